// The sum of all durable records in memory: what a store answers after a restart and to queries.
// The model that every real store must agree with; fakes and simulations keep one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "coordinator/core/event.h"
#include "coordinator/core/record.h"
#include "schema/client.h"

namespace warpsmith {

// Pure; not shared among threads.
class StoreImage {
 public:
  explicit StoreImage(std::string cluster) : cluster_(std::move(cluster)) {}

  // A batch, whole. CHECKs what no store may ever be given: a result twice, a gap in a stream.
  void Apply(const std::vector<Record>& records);
  // The next coordinator's life begins.
  Snapshot BeginEpoch();

  // Trajectories of a run's stream from a place on, in order.
  std::vector<TrajectoryAccepted> Stream(RunId run, uint64_t from, size_t limit) const;
  // GetBest, GetHistory, GetJob.
  ClientReply Query(const QueryStore& query) const;

 private:
  struct StoredRun {
    RunAdded added;
    RunChanged changed;
    std::map<TrajectoryId, TrajectoryAccepted> trajectories;
    std::vector<TrajectoryId> order;   // of acceptance
    std::vector<TrajectoryId> stream;  // by publish_seq
    std::vector<LedgerEntry> ledger;   // by publish_seq
    std::vector<LineForked> forks;
    std::map<PolicyVersion, CheckpointDurable> checkpoints;
    int64_t masked = 0;
  };
  struct StoredJob {
    JobAdded added;
    JobChanged changed;
    std::map<uint32_t, Evaluation> evaluations;
  };

  void On(const RunAdded& record);
  void On(const RunChanged& record);
  void On(const JobAdded& record);
  void On(const JobChanged& record);
  void On(const TrajectoryAccepted& record);
  void On(const EvaluationAccepted& record);
  void On(const LearnerRegistered& record);
  void On(const LearnerTookOver& record);
  void On(const LineForked& record);
  void On(const CheckpointRecorded& record);
  void On(const TrajectoryConsumed& record);
  void On(const ConsumptionUndone& record);

  ClientReply Best(const QueryStore& query) const;
  ClientReply HistoryOf(const QueryStore& query) const;
  ClientReply JobOf(const QueryStore& query) const;

  std::string cluster_;
  uint64_t epoch_ = 0;
  std::map<RunId, StoredRun> runs_;
  std::map<JobId, StoredJob> jobs_;
  std::vector<LearnerRegistered> learners_;
};

}  // namespace warpsmith
