// The conversation of the `warpsmith` command with the coordinator: a request, a reply. Requests
// can be repeated: submissions carry a key, and the same key gives the same answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/model/learner_protocol.h"
#include "common/model/run.h"

namespace warpsmith {

// ---- client -> coordinator

struct SubmitRun {
  std::string key;  // chosen by the client, unique for the submission
  RunSpec spec;
  bool operator==(const SubmitRun&) const = default;
};

struct SubmitEvaluation {
  std::string key;
  EvaluationJob job;
  std::string device = "auto";
  bool operator==(const SubmitEvaluation&) const = default;
};

struct CancelRun {
  RunId run;
  bool operator==(const CancelRun&) const = default;
};

struct GetCluster {
  bool operator==(const GetCluster&) const = default;
};
struct GetRun {
  RunId run;
  bool operator==(const GetRun&) const = default;
};
struct GetJob {
  JobId job;
  bool operator==(const GetJob&) const = default;
};
// The tasks of a run with baselines, best candidates and outcome counts.
struct GetBest {
  RunId run;
  bool operator==(const GetBest&) const = default;
};
// All that a report draws: points of evaluations in order, and step reports.
struct GetHistory {
  RunId run;
  bool operator==(const GetHistory&) const = default;
};

using ClientRequest = std::variant<SubmitRun, SubmitEvaluation, CancelRun, GetCluster, GetRun,
                                   GetJob, GetBest, GetHistory>;

// ---- coordinator -> client

struct RunAccepted {
  RunId run;
  bool operator==(const RunAccepted&) const = default;
};
struct JobAccepted {
  JobId job;
  bool operator==(const JobAccepted&) const = default;
};

struct RunStatus {
  RunId run;
  std::string name;
  std::string policy;
  RunState state = RunState::kRunning;
  std::string device;  // "auto" until the first job is granted
  int64_t budget_evaluations = 0;
  int64_t admitted_evaluations = 0;
  int64_t finished_evaluations = 0;
  int64_t correct_evaluations = 0;
  int64_t infrastructure_evaluations = 0;  // masked
  int64_t trajectories_accepted = 0;
  int64_t trajectories_consumed = 0;  // trained, stale or dropped
  int64_t trajectories_trained = 0;
  int64_t trajectories_stale = 0;
  int64_t jobs_queued = 0;
  int64_t jobs_leased = 0;
  PolicyVersion version;
  double best_speedup = 0;
  TaskId best_task;
  int64_t started_at_ms = 0;
  int64_t ended_at_ms = 0;  // 0: not yet
  std::string problem;      // why it waits or failed; empty: nothing to say
  bool operator==(const RunStatus&) const = default;
};

struct WorkerStatus {
  std::string id;
  std::string name;
  std::string state;  // alive, torpid
  std::vector<DeviceFacts> devices;
  int64_t jobs_leased = 0;
  int64_t results = 0;
  double silent_s = 0;
  bool operator==(const WorkerStatus&) const = default;
};

struct ClusterStatus {
  uint64_t epoch = 0;
  std::vector<RunStatus> runs;
  std::vector<WorkerStatus> workers;
  bool learner_alive = false;
  bool redis_alive = false;
  int64_t jobs_submitted = 0;
  int64_t jobs_queued = 0;
  int64_t jobs_leased = 0;
  int64_t jobs_finished = 0;
  int64_t jobs_cancelled = 0;
  int64_t conservation_error = 0;  // must be 0
  std::string problem;
  bool operator==(const ClusterStatus&) const = default;
};

struct JobStatus {
  JobId job;
  std::string state;                               // queued, leased, finished, cancelled
  std::vector<std::optional<Evaluation>> results;  // one a candidate
  std::string problem;
  bool operator==(const JobStatus&) const = default;
};

struct OutcomeCount {
  std::string outcome;  // word of outcome.h
  int64_t count = 0;
  bool operator==(const OutcomeCount&) const = default;
};

struct BestRow {
  TaskId task;
  std::vector<OutcomeCount> outcomes;
  std::string candidate;  // text of the best correct candidate; empty: none
  Evaluation evaluation;  // its record
  bool operator==(const BestRow&) const = default;
};

struct BestTable {
  RunId run;
  std::vector<BestRow> rows;
  bool operator==(const BestTable&) const = default;
};

// One evaluation of a run, in the order results were accepted.
struct EvaluationPoint {
  TaskId task;
  std::string outcome;  // word
  double speedup = 0;
  double reward = 0;
  uint64_t step = 0;  // of the policy version that wrote it
  int32_t turn = 0;
  bool operator==(const EvaluationPoint&) const = default;
};

struct History {
  RunStatus status;
  std::vector<EvaluationPoint> evaluations;
  std::vector<StepReport> steps;
  bool operator==(const History&) const = default;
};

struct RequestFailed {
  std::string code;  // of common/base/result.h
  std::string why;
  bool operator==(const RequestFailed&) const = default;
};

using ClientReply = std::variant<RunAccepted, JobAccepted, RunStatus, ClusterStatus, JobStatus,
                                 BestTable, History, RequestFailed>;

}  // namespace warpsmith
