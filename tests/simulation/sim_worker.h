// A worker host: the real worker's core over a pretended device and policy. A crash loses
// everything, its spool included; the next life has a new routing id.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/base/random.h"
#include "tests/simulation/clockwork.h"
#include "tests/simulation/invariants.h"
#include "worker/core/worker_core.h"

namespace warpsmith::sim {

// What a worker needs of its world.
struct WorkerWorld {
  Clockwork& clockwork;
  Random& random;
  Invariants& invariants;
  std::function<void(const std::string& host, const WorkerId& id, WorkerMessage)> send;
  // Whether the learner still serves this version.
  std::function<bool(const WeightsAnnouncement&)> can_pull;
  Duration evaluation{};  // what each takes besides
};

class SimWorker {
 public:
  SimWorker(WorkerWorld& world, std::string host, uint32_t capacity);

  void Boot();
  void Crash();
  void Hear(const WorkerId& to, CoordinatorToWorker message);
  bool up() const { return core_ != nullptr; }
  const std::string& host() const { return host_; }
  // Its device judges nothing for a while.
  void Sicken(Duration time) { sick_until_ = world_.clockwork.now() + time; }
  // Its device answers nothing any more.
  void Hang() { hangs_ = true; }
  // From the end of chaos on nothing fails by itself any more.
  void Heal() { healthy_ = true; }

 private:
  void Step(WorkerEvent event);
  void Do(SendMessage& effect);
  void Do(Evaluate& effect);
  void Do(AskPolicy& effect);
  void Do(PullWeights& effect);
  void Do(LogLine&) {}
  void Do(Exit& effect);
  // Runs `what` after a delay, if this life still lasts.
  void Later(Duration low, Duration high, std::function<void()> what);
  Evaluation Judge(const Evaluate& order);

  WorkerWorld& world_;
  std::string host_;
  uint32_t capacity_;
  uint64_t life_ = 0;
  WorkerId id_;
  bool healthy_ = false;
  bool hangs_ = false;
  TimePoint sick_until_{};
  std::unique_ptr<WorkerCore> core_;
  std::map<RunId, PolicyVersion> policy_;  // what the policy child has loaded
  Alarm alarm_;
};

}  // namespace warpsmith::sim
