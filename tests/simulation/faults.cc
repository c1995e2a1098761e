// What goes wrong in a simulated cluster, and when.
#include <cmath>

#include "tests/simulation/world.h"

namespace warpsmith::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Faults of a kind come as a Poisson process.
void World::Plan(Duration mean, void (World::*fault)()) {
  if (mean == Duration{}) return;
  const double wait = -std::log(1 - random_.Uniform());
  const auto delay = Duration(static_cast<int64_t>(wait * static_cast<double>(mean.count())));
  clockwork_.After(delay, [this, mean, fault] {
    if (!chaos_) return;
    ++result_.faults;
    (this->*fault)();
    Plan(mean, fault);
  });
}

void World::CoordinatorFault() {
  if (core_ == nullptr) return;
  Tell("-- coordinator killed");
  CrashCoordinator();
  clockwork_.After(milliseconds(50 + random_.Below(3000)), [this] { BootCoordinator(); });
}

void World::FreezeFault() {
  if (core_ == nullptr || frozen_) return;
  frozen_ = true;
  clockwork_.After(milliseconds(500 + random_.Below(8000)), [this, life = life_] {
    if (life == life_) Thaw();
  });
  Tell("-- coordinator frozen");
}

void World::WorkerFault() {
  SimWorker& worker = *workers_[random_.Below(workers_.size())];
  if (!worker.up()) return;
  Tell("-- " + worker.host() + " killed");
  worker.Crash();
  clockwork_.After(milliseconds(50 + random_.Below(6000)), [&worker] {
    if (!worker.up()) worker.Boot();
  });
}

void World::DeviceFault() {
  SimWorker& worker = *workers_[random_.Below(workers_.size())];
  Tell("-- the device of " + worker.host() + " is sick");
  worker.Sicken(milliseconds(200 + random_.Below(3000)));
}

void World::LearnerFault() {
  if (!learner_.up()) return;
  const bool lose = random_.Chance(0.25);
  Tell(lose ? "-- learner killed, its newest checkpoints are lost" : "-- learner killed");
  learner_.Crash(lose);
  clockwork_.After(milliseconds(50 + random_.Below(8000)), [this] {
    if (!learner_.up()) learner_.Boot();
  });
}

void World::PartitionFault() {
  const size_t which = random_.Below(workers_.size() + 2);
  const std::string host = which < workers_.size()    ? workers_[which]->host()
                           : which == workers_.size() ? "learner"
                                                      : "client";
  Tell("-- " + host + " cut off");
  network_.Cut(host);
  clockwork_.After(milliseconds(200 + random_.Below(9000)), [this, host] { network_.Mend(host); });
}

void World::DiskFault() {
  Tell("-- disk full");
  disk_.Full(true);
  clockwork_.After(milliseconds(200 + random_.Below(6000)), [this] { disk_.Full(false); });
}

void World::RedisAwayFault() {
  Tell("-- Redis away");
  SetRedis(true);
  clockwork_.After(milliseconds(200 + random_.Below(5000)), [this] { SetRedis(false); });
}

void World::RedisWipeFault() {
  Tell("-- Redis wiped");
  redis_.clear();
}

void World::Heal() {
  Tell("== everything heals");
  chaos_ = false;
  network_.Heal();
  disk_.Full(false);
  SetRedis(false);
  for (const auto& worker : workers_) worker->Heal();
}

}  // namespace warpsmith::sim
