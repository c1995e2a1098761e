// The coordinator's decisions, without the world.
//
//   effects = core.Step(now, event)    what happened -> what the shell must do, in this order
//   core.NextDeadline()                when to Step with TimePassed at the latest
//
// Pure: no I/O, clock, thread, log or ambient randomness. The same events at the same times give
// the same effects, so that a simulation can drive it with faults.
//
// What it promises:
//  - nothing is acknowledged, granted, published or answered as accepted before it is durable: such
//    effects wait here until the Stored event of their batch (an adoption need not: its fence has
//    the epoch, which is durable already);
//  - the first accepted result of an episode or candidate wins, from whatever attempt; every other
//    copy is acknowledged and dropped;
//  - a job has at most one lease;
//  - after every step: submitted = queued + leased + finished + cancelled;
//  - accepted trajectories of runs that learn get dense places in their run's stream, and each
//    place is consumed once on the run's line of weights;
//  - every wait has a deadline: leases, silent peers, back-off, groups, unanswered messages.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "coordinator/core/event.h"
#include "coordinator/core/jobs.h"
#include "coordinator/core/learner.h"
#include "coordinator/core/leases.h"
#include "coordinator/core/runs.h"
#include "coordinator/core/settings.h"
#include "coordinator/core/submissions.h"
#include "coordinator/core/workers.h"

namespace warpsmith {

// Thread-compatible.
class Coordinator {
 public:
  // `snapshot.epoch` is durable already. Leases of the life before are unconfirmed from `now` on.
  Coordinator(CoordinatorSettings settings, Snapshot snapshot, TimePoint now);

  Effects Step(TimePoint now, Event event);
  // Nothing: nothing is due.
  std::optional<TimePoint> NextDeadline() const;

  // For logs and simulations.
  const JobTable& jobs() const { return jobs_; }
  const LeaseTable& leases() const { return leases_; }
  const WorkerTable& workers() const { return workers_; }
  const std::map<RunId, TrainingRun>& runs() const { return runs_; }
  uint64_t epoch() const { return epoch_; }
  // Jobs that are in no state, and trajectories reported consumed in two ways. Must be 0.
  int64_t conservation_error() const;
  ClusterStatus Cluster(TimePoint now) const;

 private:
  // Waits for a batch: an effect, or one of these.
  struct GrantStored {
    JobId job;
    Fence fence;
  };
  struct JobEndStored {
    JobId job;
  };
  struct RunEndStored {
    RunId run;
  };
  using AfterStored = std::variant<Effect, GrantStored, JobEndStored, RunEndStored>;

  // Events. Each handler group has a file: coordinator_{worker,learner,client}.cc.
  void On(TimePoint now, WorkerSaid& event);
  void On(TimePoint now, LearnerSaid& event);
  void On(TimePoint now, ClientAsked& event);
  void On(TimePoint now, Stored& event);
  void On(TimePoint now, StoreHealth& event);
  void On(TimePoint now, RedisHealth& event);
  void On(TimePoint now, TimePassed& event);

  // From workers.
  // The newest protocol that both speak. kInvalidInput says which releases go together.
  static Result<uint32_t> CommonProtocol(const char* peer, uint32_t oldest, uint32_t newest);
  void OnRegister(TimePoint now, const WorkerId& id, RegisterWorker offer);
  std::optional<HeldLease> Adopt(TimePoint now, const WorkerId& id, const HeldLease& held);
  void OnWorker(TimePoint now, Worker& worker, Heartbeat& message);
  void OnWorker(TimePoint now, Worker& worker, RegisterWorker& message);
  void OnWorker(TimePoint now, Worker& worker, Progress& message);
  void OnWorker(TimePoint now, Worker& worker, TrajectoryResult& message);
  void OnWorker(TimePoint now, Worker& worker, EvaluationResult& message);
  void OnWorker(TimePoint now, Worker& worker, JobFailed& message);
  void OnWorker(TimePoint now, Worker& worker, WeightsInUse& message);
  void OnWorker(TimePoint now, Worker& worker, WeightsRefused& message);
  // Workers that could serve the run, and how many of them refuse it or the weights that it needs.
  std::pair<size_t, size_t> Refusals(const TrainingRun& run) const;
  // One worker that refuses may be of another release; when all do, nobody can go on.
  bool AllRefuse(const TrainingRun& run) const;
  void OnWorker(TimePoint now, Worker& worker, Leaving& message);
  void OnWorker(TimePoint now, Worker& worker, Unrecognized& message);
  void Take(TimePoint now, Worker& worker, Trajectory& trajectory);
  void Take(TimePoint now, Worker& worker, EvaluationResult& message);
  void Acknowledge(const WorkerId& worker, CoordinatorToWorker ack);
  void PartDone(TimePoint now, Job& job, uint32_t part);
  void AnnounceTo(TimePoint now, Worker& worker, RunId run);

  // From learners.
  void OnRegisterLearner(TimePoint now, const std::string& peer, RegisterLearner message);
  void TakeOver(TimePoint now, const std::string& peer);
  void TellAllRuns(TimePoint now);
  void ResumeRun(TrainingRun& run, const LearnerRunState& state);
  void ForkLine(TrainingRun& run, const PolicyVersion& from);
  void OpenStreamOf(const TrainingRun& run);
  void OnLearner(TimePoint now, RegisterLearner& message);
  void OnLearner(TimePoint now, Heartbeat& message);
  void OnLearner(TimePoint now, WeightsAnnouncement& message);
  void OnLearner(TimePoint now, CheckpointDurable& message);
  void OnLearner(TimePoint now, RunTrained& message);
  void OnLearner(TimePoint now, RunRefused& message);
  void OnLearner(TimePoint now, Unrecognized& message);
  void TellLearner(TimePoint now, TrainingRun& run);
  std::string StreamOf(RunId run) const;

  // From clients.
  // Nothing: the store answers.
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const SubmitRun&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked,
                                      const SubmitEvaluation&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const CancelRun&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const GetCluster&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const GetRun&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const GetJob&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const GetBest&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const GetHistory&);
  std::optional<ClientReply> AnswerTo(TimePoint now, const ClientAsked& asked, const Unrecognized&);
  std::optional<ClientReply> QueryRun(TimePoint now, const ClientAsked& asked, RunId run);
  void AskStore(QueryStore query);
  RunStatus StatusOf(TimePoint now, const TrainingRun& run) const;
  std::string WhyWaits(TimePoint now, const TrainingRun& run) const;
  std::string WhyWaits(const Job& job) const;

  // Ends of things.
  void FailAttempt(TimePoint now, Job& job, const std::string& why);
  void GiveUp(TimePoint now, Job& job, const std::string& why);
  void FinishJob(TimePoint now, Job& job);
  void TellCancelled(const Lease& lease);
  void CancelLease(const Job& job);
  void SettleRun(TimePoint now, TrainingRun& run);
  // Ends a run that is not done: what it has queued or leased is cancelled.
  void AbandonRun(TimePoint now, TrainingRun& run, RunState state, const std::string& problem);
  void EndRun(TimePoint now, TrainingRun& run, RunState state, const std::string& problem);

  // Dispatch (dispatch.cc).
  void Dispatch(TimePoint now);
  bool AssignOne(TimePoint now, Worker& worker);
  bool AssignFromRun(TimePoint now, Worker& worker, TrainingRun& run);
  bool AssignEvaluation(TimePoint now, Worker& worker, const JobQueueKey& key);
  std::optional<DeviceKind> KindFor(const TrainingRun& run) const;
  static std::optional<DeviceKind> KindFor(const EvaluationPlan& plan, const Worker& worker);
  bool FreshEnough(TimePoint now, const Worker& worker, const TrainingRun& run) const;
  bool MayTry(TimePoint now, const Worker& worker, const Job& job, DeviceKind kind) const;
  void Grant(Job& job, const Worker& worker, DeviceKind kind);
  void SendGrant(TimePoint now, const GrantStored& grant);
  JobBody BodyOf(const Job& job) const;
  // Empty: new work may be admitted and granted.
  std::string WhyNoAdmission() const;

  // Effects and durability.
  void Emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void Put(Record record) { records_.push_back(std::move(record)); }
  // Once everything put so far is durable; at once when it is already.
  void Durably(AfterStored action) { after_.push_back(std::move(action)); }
  void Perform(TimePoint now, AfterStored action);
  void Flush(TimePoint now);
  using Fields = std::vector<std::pair<std::string, std::string>>;
  void Say(std::string event, Fields fields) {
    Emit(LogLine{false, std::move(event), std::move(fields)});
  }
  void Warn(std::string event, Fields fields) {
    Emit(LogLine{true, std::move(event), std::move(fields)});
  }

  TrainingRun* FindRun(RunId id);
  int64_t WallMs(TimePoint now) const;

  CoordinatorSettings settings_;
  uint64_t epoch_;
  std::string cluster_;

  JobTable jobs_;
  LeaseTable leases_;
  WorkerTable workers_;
  LearnerSession learner_;
  Submissions submissions_;
  std::map<RunId, TrainingRun> runs_;
  uint64_t last_run_ = 0;

  StoreHealth store_;
  RedisHealth redis_;

  // Fairness among queues that have the same number of leases: who was served longest ago.
  std::map<JobQueueKey, uint64_t> served_;
  uint64_t serves_ = 0;

  // Of this step.
  Effects effects_;
  std::vector<Record> records_;
  std::vector<AfterStored> after_;
  // Batches that are not durable yet, and what waits for each.
  uint64_t last_batch_ = 0;
  struct Waiting {
    uint64_t batch = 0;
    std::vector<AfterStored> actions;
  };
  std::deque<Waiting> waiting_;
};

}  // namespace warpsmith
