// A training run that somebody submitted, and the jobs it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/model/reward.h"
#include "common/model/task.h"
#include "common/model/trajectory.h"

namespace warpsmith {

struct Algorithm {
  std::string advantage = "trloo";
  int turns = 4;            // candidates an episode
  int group = 16;           // episodes on the same task
  int batch_episodes = 64;  // episodes a learner step
  int staleness = 4;        // steps that a trajectory may lag behind
  double learning_rate = 1e-2;
  int epochs = 2;  // passes over a batch
  double clip_low = 0.2;
  double clip_high = 0.28;
  double importance_cap = 2;  // truncation of the decoupled importance weight
  double entropy = 0.01;      // bonus, in nats

  bool operator==(const Algorithm&) const = default;
};

struct RunSpec {
  std::string name;
  std::vector<Suite> suites;       // whole: the coordinator needs no file of the submitter's
  std::string policy = "grammar";  // grammar, random
  Algorithm algorithm;
  RewardKind reward = RewardKind::kHybrid;
  int64_t budget_evaluations = 0;
  std::string device = "auto";  // auto: the best kind that the fleet has when the run starts
  uint64_t seed = 1;

  // Whether a learner trains this run's policy.
  bool learns() const { return policy != "random"; }
  const Task* FindTask(const TaskId& id) const;
  std::vector<const Task*> AllTasks() const;
  bool operator==(const RunSpec&) const = default;
};

enum class RunState { kRunning, kFinishing, kComplete, kCancelled, kFailed };
const char* ToString(RunState state);

// One group's episodes on one task.
struct RolloutJob {
  RunId run;
  GroupId group;
  Task task;
  std::string policy;
  std::vector<uint32_t> episodes;  // those still missing
  int turns = 1;
  RewardKind reward = RewardKind::kHybrid;
  uint64_t seed = 0;          // of the group's sampling, not of any content
  PolicyVersion min_version;  // a worker with older weights must not start it
  Depth depth = Depth::kScreen;

  bool operator==(const RolloutJob&) const = default;
};

// A list of candidates that somebody wants judged.
struct EvaluationJob {
  Task task;
  std::vector<std::string> candidates;
  Depth depth = Depth::kMeasure;

  bool operator==(const EvaluationJob&) const = default;
};

using JobBody = std::variant<RolloutJob, EvaluationJob>;

// Guards renewal, progress and cancel of one attempt.
struct Fence {
  uint64_t epoch = 0;  // of the coordinator that granted it
  uint32_t attempt = 0;
  auto operator<=>(const Fence&) const = default;
};

}  // namespace warpsmith
