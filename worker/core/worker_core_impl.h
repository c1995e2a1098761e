// Inside worker_core: the parts of the worker's decisions share this state, one file a concern.
//
//   worker_core.cc         a step from end to end: what is due after every event, draining
//   worker_core_link.cc    registration, heartbeats, fencing (coordinator_link.h)
//   worker_core_jobs.cc    grants, progress, failures, results and their acknowledgements
//   worker_core_lanes.cc   evaluations: whose turn it is, what came back (lane_board.h)
//   worker_core_policy.cc  actions and weights (policy_desk.h, worker_weights.h)
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/coordinator_link.h"
#include "worker/core/lane_board.h"
#include "worker/core/policy_desk.h"
#include "worker/core/worker_core.h"
#include "worker/core/worker_job.h"
#include "worker/core/worker_spool.h"
#include "worker/core/worker_weights.h"

namespace warpsmith {

struct WorkerCore::Impl {
  explicit Impl(WorkerCoreOptions o)
      : options(std::move(o)),
        link(options.register_retry),
        spool(options.resend_after, options.resend_burst),
        weights(options.weights_retry, options.runs_remembered) {}

  // ---- state

  WorkerCoreOptions options;
  TimePoint now{};
  WorkerEffects effects;

  CoordinatorLink link;
  std::set<JobId> offered;  // named in the last RegisterWorker
  std::map<JobId, WorkerJob> jobs;
  LaneBoard lanes;
  PolicyDesk desk;
  uint64_t last_id = 0;  // of an evaluation or a question to the policy
  ResultSpool spool;
  WeightsBook weights;

  int sick_in_a_row = 0;
  std::optional<TimePoint> drain_deadline;
  bool handed_back = false;
  std::optional<Exit> exit_after_drain;
  bool ended = false;

  // ---- small verbs

  void Send(WorkerMessage message) { effects.push_back(SendMessage{std::move(message)}); }
  void Say(std::string event, std::vector<std::pair<std::string, std::string>> fields);
  void SayJob(const char* event, const WorkerJob& job, const std::string& why = {});
  void SayWeights(const char* event, RunId run, PolicyVersion version, const std::string& why = {});
  WorkerJob* Find(JobId id);
  void End(int status, std::string why);

  // ---- a step: worker_core.cc

  void On(const Started&) { BeginRegistering(); }
  void On(const TimePassed&) {}
  void On(Heard event);
  void On(const DrainRequested& event) { BeginDrain(event.grace); }
  void BeginDrain(Duration grace);
  void PollDrain();
  void Poll();
  std::optional<TimePoint> NextDeadline() const;

  // ---- the link: worker_core_link.cc

  void On(const WelcomeWorker& welcome);
  void On(const Refused& refused);
  void On(const Unknown&);
  void On(const Unrecognized& message);
  void On(const HeartbeatReply& reply);
  void Register();
  void BeginRegistering();
  void PollLink();

  // ---- jobs and results: worker_core_jobs.cc

  void On(AssignJob assign);
  void On(const CancelJob& cancel);
  void On(const AckTrajectory& ack) { Acknowledged(ack.id); }
  void On(const AckEvaluation& ack) { Acknowledged(std::pair(ack.job, ack.index)); }
  void Acknowledged(const ResultKey& key);
  // Gives a job its work. A result that still waits here need not be made again: it goes out once
  // more.
  void Begin(WorkerJob& job, RolloutJob rollout);
  void Begin(WorkerJob& job, EvaluationJob list);
  // Stops working on it; results in the spool stay there.
  void Drop(JobId id, const std::string& why);
  void FailJob(JobId id, InfrastructureKind kind, const std::string& detail,
               bool policy_refuses = false);
  // Forgets a job whose results are all acknowledged.
  void Retire(JobId id);
  void Moved(WorkerJob& job) { job.moved = true; }
  Duration RenewInterval() const;
  // Whether something of the job is with its lane or with the policy, or next in line there, and
  // the supervisor's limits for an answer have not passed.
  bool Stands(const WorkerJob& job) const;
  // Jobs whose weights this worker's policy will not take: another worker's may.
  void FailHopeless();
  void PollJobs();
  bool SpoolFull() const { return spool.size() >= options.spool_limit; }
  void FlushSpool();

  // ---- evaluations: worker_core_lanes.cc

  void On(Evaluated event);
  void EpisodeEvaluated(WorkerJob& job, size_t index, Evaluated event);
  void CandidateEvaluated(WorkerJob& job, size_t index, Evaluated event);
  // The job is lost to its device. A worker that loses job after job must not go on drawing them.
  void DeviceGone(WorkerJob& job, const std::string& label);
  void Start(WorkerJob& job, size_t index);
  void PollLanes();

  // ---- the policy and its weights: worker_core_policy.cc

  void On(const PolicyReplied& event);
  void On(const PolicyLost& event);
  void On(const WeightsAnnouncement& announcement);
  void On(const WeightsPulled& event);
  void On(const WeightsPullFailed& event);
  void Replied(const ActReply& reply);
  void Replied(const WeightsLoaded& reply);
  void Replied(const Unrecognized&) {}  // the shell lets none through
  void ActFailed(WorkerJob& job, const std::vector<size_t>& episodes, const std::string& why);
  void Refuse(const LoadWeights& load);
  void SendRefused(RunId run);
  bool AskForLoad();
  bool AskForActions(WorkerJob& job);
  void PollPolicy();
};

}  // namespace warpsmith
