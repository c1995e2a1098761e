#include "tests/simulation/world.h"

#include <algorithm>
#include <cstdio>

#include "coordinator/core/testing.h"

namespace warpsmith::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr const char* kLearnerHost = "learner";
constexpr uint64_t kMostEvents = 3'000'000;  // a story that long goes in circles

}  // namespace

World::World(SimulationOptions options)
    : options_(options),
      random_(options.seed),
      network_(clockwork_, random_, options.network),
      disk_(clockwork_, random_),
      invariants_(disk_),
      alarm_(clockwork_, [this] { ToCoordinator(TimePassed{}); }),
      worker_world_{clockwork_,
                    random_,
                    invariants_,
                    [this](const std::string& host, const WorkerId& id, WorkerMessage message) {
                      network_.Carry(host, [this, id, message = std::move(message)] {
                        ToCoordinator(WorkerSaid{id, message});
                      });
                    },
                    [this](const WeightsAnnouncement& what) { return learner_.Serves(what); },
                    options.evaluation},
      learner_world_{clockwork_, random_, redis_, redis_away_,
                     [this](const std::string& peer, LearnerMessage message) {
                       network_.Carry(kLearnerHost, [this, peer, message = std::move(message)] {
                         ToCoordinator(LearnerSaid{peer, message});
                       });
                     }},
      learner_(learner_world_) {
  settings_.heartbeat = milliseconds(500);
  settings_.torpid = milliseconds(1500);
  settings_.lease = settings_.dead = seconds(4);
  settings_.job_deadline = seconds(60);
  settings_.group_deadline = seconds(120);
  settings_.repeat = seconds(1);
  settings_.weights_grace = seconds(2);
  settings_.retry_cap = seconds(4);
  settings_.max_failures = 3;
}

SimulationResult World::Play() {
  BootCoordinator();
  const size_t count = 2 + random_.Below(3);
  for (size_t i = 0; i < count; ++i) {
    workers_.push_back(std::make_unique<SimWorker>(worker_world_, "worker" + std::to_string(i),
                                                   1 + random_.Below(3)));
    if (i == 0 && options_.a_device_hangs) workers_.back()->Hang();
    workers_.back()->Boot();
  }
  learner_.Boot();
  PlanSubmissions();
  clockwork_.After(milliseconds(100), [this] { Publish(); });
  const FaultOptions& faults = options_.faults;
  Plan(faults.coordinator_crash, &World::CoordinatorFault);
  Plan(faults.coordinator_freeze, &World::FreezeFault);
  Plan(faults.worker_crash, &World::WorkerFault);
  Plan(faults.device_sick, &World::DeviceFault);
  Plan(faults.learner_crash, &World::LearnerFault);
  Plan(faults.partition, &World::PartitionFault);
  Plan(faults.disk_full, &World::DiskFault);
  Plan(faults.redis_away, &World::RedisAwayFault);
  Plan(faults.redis_wipe, &World::RedisWipeFault);
  clockwork_.After(options_.chaos, [this] { Heal(); });

  const TimePoint end = TimePoint{} + options_.chaos + options_.patience;
  while (invariants_.broken().empty() && !Finished() && clockwork_.now() < end &&
         result_.events < kMostEvents) {
    if (!clockwork_.Next()) break;
    ++result_.events;
  }
  if (invariants_.broken().empty()) CheckLiveness();
  if (invariants_.broken().empty()) invariants_.EveryPartHasAResult();
  if (invariants_.broken().empty()) CheckTraining();
  result_.broken = invariants_.broken();
  result_.unseed = random_.Bits64();
  result_.trajectories = disk_.durable.trajectories.size();
  result_.simulated_s = std::chrono::duration<double>(clockwork_.now() - TimePoint{}).count();
  return result_;
}

void World::Tell(const std::string& what) {
  if (!options_.verbose) return;
  const auto ms = std::chrono::duration_cast<milliseconds>(clockwork_.now() - TimePoint{}).count();
  std::printf("%8.3f %s\n", static_cast<double>(ms) / 1000, what.c_str());
}

// ---- coordinator

void World::BootCoordinator() {
  Snapshot snapshot = disk_.image.BeginEpoch();
  Tell("coordinator starts, epoch " + std::to_string(snapshot.epoch));
  core_ = std::make_unique<Coordinator>(settings_, std::move(snapshot), clockwork_.now());
  disk_.stored = [this](Stored stored) { ToCoordinator(stored); };
  disk_.health = [this](StoreHealth health) { ToCoordinator(std::move(health)); };
  alarm_.Set(core_->NextDeadline());
}

void World::CrashCoordinator() {
  core_.reset();
  ++life_;
  frozen_ = false;
  unheard_.clear();
  streams_.clear();
  disk_.Crash();
}

void World::ToCoordinator(Event event) {
  if (core_ == nullptr) return;
  if (frozen_) {
    unheard_.push_back(std::move(event));
    return;
  }
  Step(std::move(event));
}

void World::Thaw() {
  frozen_ = false;
  // Messages first, deadlines after them.
  bool late = false;
  for (Event& event : std::exchange(unheard_, {})) {
    if (std::holds_alternative<TimePassed>(event))
      late = true;
    else
      ToCoordinator(std::move(event));
  }
  if (late) ToCoordinator(TimePassed{});
}

void World::Step(Event event) {
  invariants_.BeforeStep(*core_, event);
  Effects effects = core_->Step(clockwork_.now(), std::move(event));
  invariants_.AfterStep(*core_, clockwork_.now(), effects);
  for (Effect& effect : effects) std::visit([&](auto& what) { Do(what); }, effect);
  if (core_ != nullptr) alarm_.Set(core_->NextDeadline());
}

void World::Do(SendWorker& effect) {
  for (const auto& worker : workers_) {
    if (!effect.worker.value().starts_with(worker->host() + "-")) continue;
    network_.Carry(worker->host(), [worker = worker.get(), effect] {
      worker->Hear(effect.worker, effect.message);
    });
  }
}

void World::Do(SendLearner& effect) {
  network_.Carry(kLearnerHost, [this, effect] { learner_.Hear(effect.peer, effect.message); });
}

void World::Do(AnswerClient& effect) {
  network_.Carry("client",
                 [this, effect] { Answered(effect.client.value(), effect.answer.reply); });
}

void World::Do(QueryStore& effect) {
  AnswerClient answer{effect.client, {effect.call.id, disk_.image.Query(effect)}};
  Do(answer);
}

void World::Do(LogLine& effect) {
  for (const auto& [key, value] : effect.fields)
    result_.leases_lost += value == "no progress for a lease time";
  if (!options_.verbose) return;
  std::string line = effect.event;
  for (const auto& [key, value] : effect.fields) line += " " + key + "=" + value;
  Tell(line);
}

// ---- Redis

void World::Do(OpenStream& effect) {
  Stream& stream = streams_[effect.run];
  if (stream.name != effect.stream) redis_.erase(stream.name);
  stream = {effect.stream, effect.base, effect.end};
}

void World::Do(ExtendStream& effect) {
  const auto stream = streams_.find(effect.run);
  if (stream != streams_.end()) stream->second.end = std::max(stream->second.end, effect.end);
}

void World::Do(TrimStream& effect) {
  const auto stream = streams_.find(effect.run);
  if (stream != streams_.end()) stream->second.base = std::max(stream->second.base, effect.below);
}

void World::Do(CloseStream& effect) {
  const auto stream = streams_.find(effect.run);
  if (stream == streams_.end()) return;
  redis_.erase(stream->second.name);
  streams_.erase(stream);
}

void World::Publish() {
  if (!redis_away_ && core_ != nullptr) {
    for (const auto& [run, stream] : streams_) {
      auto& entries = redis_[stream.name];
      entries.erase(entries.begin(), entries.lower_bound(stream.base));
      uint64_t from = stream.base;
      while (from < stream.end && entries.contains(from)) ++from;
      for (const auto& stored : disk_.image.Stream(run, from, stream.end - from))
        entries.emplace(*stored.publish_seq, stored.trajectory);
    }
  }
  clockwork_.After(milliseconds(100), [this] { Publish(); });
}

void World::SetRedis(bool away) {
  redis_away_ = away;
  ToCoordinator(RedisHealth{!away, away ? "away" : ""});
}

// ---- the end

bool World::Finished() const {
  if (chaos_) return false;
  for (const Submission& submission : submissions_)
    if (!submission.run || !disk_.durable.ended_runs.contains(*submission.run)) return false;
  return std::all_of(evaluations_.begin(), evaluations_.end(), [&](const auto& evaluation) {
    return evaluation.job && disk_.durable.ended_jobs.contains(*evaluation.job);
  });
}

void World::CheckLiveness() {
  if (Finished()) return;
  if (result_.events >= kMostEvents) invariants_.Broken("the story goes in circles");
  for (const Submission& submission : submissions_) {
    if (!submission.run) {
      invariants_.Broken("submission " + submission.key + " was never answered");
    } else if (!disk_.durable.ended_runs.contains(*submission.run)) {
      std::string problem = "the coordinator is down";
      if (core_ != nullptr)
        for (const RunStatus& status : core_->Cluster(clockwork_.now()).runs)
          if (status.run == *submission.run)
            problem = std::string(ToString(status.state)) + ", queued " +
                      std::to_string(status.jobs_queued) + ", leased " +
                      std::to_string(status.jobs_leased) + ", accepted " +
                      std::to_string(status.trajectories_accepted) + ", consumed " +
                      std::to_string(status.trajectories_consumed) + ": " + status.problem;
      invariants_.Broken("run " + std::to_string(submission.run->value()) +
                         " does not end though everything has healed: " + problem);
    }
  }
  for (const EvaluationSubmission& evaluation : evaluations_)
    if (!evaluation.job || !disk_.durable.ended_jobs.contains(*evaluation.job))
      invariants_.Broken(evaluation.key + " does not end though everything has healed");
}

void World::CheckTraining() {
  // What a restarted coordinator would know.
  const Snapshot snapshot = disk_.image.BeginEpoch();
  for (const RunSnapshot& run : snapshot.runs) {
    if (run.changed.state != RunState::kComplete) continue;
    const std::string name = "run " + std::to_string(run.added.run.value()) + ": ";
    if (run.changed.admitted_evaluations != run.added.spec.budget_evaluations)
      invariants_.Broken(name + "complete before its budget was spent");
    if (!Learns(run.added.spec)) continue;
    const auto disk = learner_.disk().find(run.added.run);
    if (disk == learner_.disk().end()) {
      if (!run.ledger.empty()) invariants_.Broken(name + "trained by nobody");
      continue;
    }
    // Along the line of the final weights, back to its start.
    struct Told {
      Fate fate;
      uint64_t step;  // of the version that was trained
    };
    std::map<uint64_t, Told> line;
    const auto& checkpoints = disk->second.checkpoints;
    for (auto at = checkpoints.find(disk->second.newest); at != checkpoints.end();
         at = checkpoints.find(at->second.parent)) {
      for (const ConsumedTrajectory& consumed : at->second.consumed)
        if (!line.emplace(consumed.publish_seq, Told{consumed.fate, at->second.parent.step}).second)
          invariants_.Broken(name + "place " + std::to_string(consumed.publish_seq) +
                             " was consumed twice on the line");
      if (at->second.parent == at->first) break;
    }
    for (uint64_t seq = 0; seq < run.ledger.size(); ++seq) {
      const LedgerEntry& entry = run.ledger[seq];
      const auto told = line.find(seq);
      if (told == line.end() || !entry.consumed)
        invariants_.Broken(name + "place " + std::to_string(seq) + " was never consumed");
      else if (entry.fate != told->second.fate)
        invariants_.Broken(name + "place " + std::to_string(seq) +
                           " has another fate in the store");
      else if (entry.fate == Fate::kTrained &&
               told->second.step >
                   entry.oldest.step + static_cast<uint64_t>(run.added.spec.algorithm.staleness))
        invariants_.Broken(name + "place " + std::to_string(seq) + " was too old to be trained");
    }
    if (line.size() > run.ledger.size())
      invariants_.Broken(name + "more was consumed than accepted");
  }
}

SimulationResult Simulate(const SimulationOptions& options) { return World(options).Play(); }

}  // namespace warpsmith::sim
