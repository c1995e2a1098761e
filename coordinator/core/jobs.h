// Every job that has not ended: what it is, which of its parts have results, and the order in which
// jobs of one queue are due. A job is in exactly one state, and the counts of the states add up:
//   submitted = queued + leased + finished + cancelled
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "coordinator/core/record.h"

namespace warpsmith {

struct Job {
  JobId id;
  JobPlan plan;
  JobState state = JobState::kQueued;
  uint32_t attempt = 0;    // of the newest grant
  uint32_t failures = 0;   // attempts in a row that brought no result
  std::vector<bool> done;  // one an episode or candidate: has an accepted result
  uint32_t missing = 0;
  bool progressed = false;            // this attempt brought a result
  std::set<uint32_t> sick;            // leased: candidates whose result was infrastructure
  std::set<WorkerId> avoid;           // workers that failed it
  TimePoint ready_at{};               // queued: not before
  std::optional<TimePoint> deadline;  // of a group, from its first grant
  int64_t masked = 0;                 // evaluations given up
  std::string problem;

  bool ended() const { return state == JobState::kFinished || state == JobState::kCancelled; }
  const RolloutPlan* rollout() const { return std::get_if<RolloutPlan>(&plan); }
  const EvaluationPlan* evaluation() const { return std::get_if<EvaluationPlan>(&plan); }
  JobChanged Change() const { return {id, state, attempt, failures, masked, problem}; }
};

// Jobs that compete under one claim: a run's, or all evaluation jobs for one device name (run 0).
struct JobQueueKey {
  RunId run;
  std::string device;
  auto operator<=>(const JobQueueKey&) const = default;
};

// Pure; not shared among threads.
class JobTable {
 public:
  JobTable() = default;
  // After a restart: ids go on above `last_job`, counts as stored.
  JobTable(uint64_t last_job, JobCounts counts) : last_job_(last_job), counts_(counts) {}

  Job& Add(JobPlan plan, TimePoint now);
  Job& Restore(const JobSnapshot& snapshot, TimePoint now);
  Job* Find(JobId id);
  const Job* Find(JobId id) const;
  Job* FindGroup(RunId run, GroupId group);
  std::vector<JobId> OfRun(RunId run) const;

  void Lease(Job& job);                      // queued -> leased, the next attempt
  void Queue(Job& job, TimePoint ready_at);  // leased -> queued
  void Finish(Job& job);                     // -> finished
  void Cancel(Job& job);                     // -> cancelled
  // The end is durable: late results of it are recognised by its group's number from now on.
  void Forget(JobId id);

  void SetDeadline(Job& job, TimePoint deadline);
  // Queued jobs whose back-off is over become ready.
  void Ripen(TimePoint now);
  // Groups whose deadline has passed.
  std::vector<JobId> Overdue(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;

  // Oldest first.
  const std::set<JobId>& Ready(const JobQueueKey& key) const;
  std::vector<JobQueueKey> ReadyEvaluationQueues() const;

  const JobCounts& counts() const { return counts_; }
  int64_t QueuedOf(RunId run) const;
  int64_t LeasedOf(RunId run) const;
  // Whether the counts agree with the jobs, counted one by one. For simulations.
  bool Audit() const;

  static JobQueueKey QueueOf(const Job& job);

 private:
  void Unqueue(Job& job);
  void End(Job& job);
  Job& Insert(Job job);

  uint64_t last_job_ = 0;
  JobCounts counts_;
  std::map<JobId, Job> jobs_;
  std::map<std::pair<RunId, GroupId>, JobId> groups_;
  std::map<RunId, std::set<JobId>> by_run_;  // not ended
  std::map<JobQueueKey, std::set<JobId>> ready_;
  std::set<std::pair<TimePoint, JobId>> delayed_;
  std::set<std::pair<TimePoint, JobId>> deadlines_;
  std::map<RunId, int64_t> leased_of_;
};

}  // namespace warpsmith
