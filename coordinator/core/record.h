// What the coordinator makes durable, and what it knows again after a restart. A store applies the
// records of a batch in order, all or none, and batches in order; Snapshot is the sum of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/model/outcome.h"
#include "common/model/run.h"
#include "common/model/task.h"
#include "common/model/trajectory.h"
#include "schema/client.h"
#include "schema/learner.h"

namespace warpsmith {

enum class JobState { kQueued, kLeased, kFinished, kCancelled };
const char* ToString(JobState state);

// The lasting part of a job. A rollout job's body is made anew at each grant from its run.
struct RolloutPlan {
  RunId run;
  GroupId group;
  TaskId task;
  uint32_t episodes = 0;
  int turns = 1;
  bool operator==(const RolloutPlan&) const = default;
};
struct EvaluationPlan {
  std::string key;     // of the submission
  std::string device;  // "auto" or a kind
  EvaluationJob body;
  bool operator==(const EvaluationPlan&) const = default;
};
using JobPlan = std::variant<RolloutPlan, EvaluationPlan>;

// ---- records

struct RunAdded {
  RunId run;
  std::string key;
  RunSpec spec;
  int64_t started_at_ms = 0;
  bool operator==(const RunAdded&) const = default;
};
struct RunChanged {
  RunId run;
  RunState state = RunState::kRunning;
  std::string device = "auto";
  int64_t admitted_evaluations = 0;
  uint64_t next_group = 0;
  int64_t ended_at_ms = 0;
  std::string problem;  // why it failed; empty otherwise
  bool operator==(const RunChanged&) const = default;
};
struct JobAdded {
  JobId job;
  JobPlan plan;
  bool operator==(const JobAdded&) const = default;
};
struct JobChanged {
  JobId job;
  JobState state = JobState::kQueued;
  uint32_t attempt = 0;
  uint32_t failures = 0;
  int64_t masked_evaluations = 0;  // given up: neither judged nor rewarded
  std::string problem;
  bool operator==(const JobChanged&) const = default;
};
struct TrajectoryAccepted {
  JobId job;
  std::optional<uint64_t> publish_seq;  // of runs that learn
  Trajectory trajectory;
  bool operator==(const TrajectoryAccepted&) const = default;
};
struct EvaluationAccepted {
  JobId job;
  uint32_t index = 0;
  Evaluation evaluation;
  bool operator==(const EvaluationAccepted&) const = default;
};
struct LearnerRegistered {
  uint64_t incarnation = 0;
  std::string peer;
  bool took_over = false;  // it has spoken since, and replaced the one before; see LearnerTookOver
  bool operator==(const LearnerRegistered&) const = default;
};
struct LearnerTookOver {
  uint64_t incarnation = 0;
  bool operator==(const LearnerTookOver&) const = default;
};
// Learner `incarnation` goes on from `from`.
struct LineForked {
  RunId run;
  PolicyVersion from;
  uint64_t incarnation = 0;
  bool operator==(const LineForked&) const = default;
};
struct CheckpointRecorded {
  CheckpointDurable checkpoint;
  bool operator==(const CheckpointRecorded&) const = default;
};
// A checkpoint of `by` holds the trajectory. No fate: known from a watermark only.
struct TrajectoryConsumed {
  RunId run;
  uint64_t publish_seq = 0;
  std::optional<Fate> fate;
  PolicyVersion by;
  bool operator==(const TrajectoryConsumed&) const = default;
};
// The checkpoint that held it is lost: it is to be consumed again.
struct ConsumptionUndone {
  RunId run;
  uint64_t publish_seq = 0;
  bool operator==(const ConsumptionUndone&) const = default;
};

using Record = std::variant<RunAdded, RunChanged, JobAdded, JobChanged, TrajectoryAccepted,
                            EvaluationAccepted, LearnerRegistered, LearnerTookOver, LineForked,
                            CheckpointRecorded, TrajectoryConsumed, ConsumptionUndone>;

// ---- after a restart

// What stays in memory of an accepted trajectory.
struct LedgerEntry {
  GroupId group;
  PolicyVersion oldest;   // version that any turn was sampled with
  bool rewarded = false;  // some turn has a reward
  bool consumed = false;
  std::optional<Fate> fate;
  PolicyVersion by;  // checkpoint that consumed it
  bool operator==(const LedgerEntry&) const = default;
};

struct RunCounters {
  int64_t finished_evaluations = 0;
  int64_t correct_evaluations = 0;
  int64_t infrastructure_evaluations = 0;  // without the masked ones of jobs given up
  int64_t masked_evaluations = 0;
  int64_t trajectories = 0;
  double best_speedup = 0;
  TaskId best_task;
  bool operator==(const RunCounters&) const = default;
};

void CountTurn(RunCounters& counters, const TaskId& task, const Outcome& outcome);

struct RunSnapshot {
  RunAdded added;
  RunChanged changed;
  RunCounters counters;
  std::vector<LedgerEntry> ledger;         // by publish_seq
  std::vector<LineForked> forks;           // by incarnation
  std::vector<PolicyVersion> checkpoints;  // ascending
  bool operator==(const RunSnapshot&) const = default;
};

struct JobSnapshot {
  JobAdded added;
  JobChanged changed;
  std::vector<uint32_t> done;  // episodes or candidates with an accepted result
  bool operator==(const JobSnapshot&) const = default;
};

struct JobCounts {
  int64_t submitted = 0;
  int64_t queued = 0;
  int64_t leased = 0;
  int64_t finished = 0;
  int64_t cancelled = 0;
  int64_t error() const { return submitted - queued - leased - finished - cancelled; }
  bool operator==(const JobCounts&) const = default;
};

struct Snapshot {
  uint64_t epoch = 0;   // of this life, already durable
  std::string cluster;  // random name of this store, so that streams of two never mix
  std::vector<RunSnapshot> runs;
  std::vector<JobSnapshot> jobs;  // queued or leased
  std::map<std::string, JobId> evaluation_keys;
  uint64_t last_job = 0;  // highest id ever used
  JobCounts counts;
  std::vector<LearnerRegistered> learners;  // by incarnation
  bool operator==(const Snapshot&) const = default;
};

}  // namespace warpsmith
