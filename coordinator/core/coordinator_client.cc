// What clients ask.
#include "common/model/device_kind.h"
#include "coordinator/core/coordinator.h"

namespace warpsmith {
namespace {

RequestFailed Failed(const Error& error) { return {ToString(error.code), error.message}; }

RequestFailed NoRun(RunId run) {
  return Failed({ErrorCode::kNotFound,
                 "no run " + std::to_string(run.value()) + ": `warpsmith status` lists them"});
}

bool PromisesNothing(const ClientRequest& request, const ClientReply& reply) {
  return std::holds_alternative<GetCluster>(request) || std::holds_alternative<GetRun>(request) ||
         std::holds_alternative<RequestFailed>(reply);
}

}  // namespace

void Coordinator::On(TimePoint now, ClientAsked& event) {
  auto reply = std::visit([&](const auto& request) { return AnswerTo(now, event, request); },
                          event.call.request);
  if (!reply) return;
  AnswerClient answer{event.client, ClientAnswer{event.call.id, std::move(*reply)}};
  // Also what is only read waits for what was put before, so that nobody sees a thing that can
  // vanish; but a store that cannot write must not keep people from learning that.
  if (!store_.ok && PromisesNothing(event.call.request, answer.answer.reply))
    Emit(std::move(answer));
  else
    Durably(std::move(answer));
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked&,
                                                 const SubmitRun& submission) {
  if (const auto known = submissions_.FindRun(submission.key)) return RunAccepted{*known};
  if (const Status checked = CheckSubmission(submission); !checked) return Failed(checked.error());
  if (!store_.ok) return Failed({ErrorCode::kExhausted, WhyNoAdmission()});
  const RunId id(++last_run_);
  const RunAdded added{id, submission.key, submission.spec, WallMs(now)};
  submissions_.Remember(submission.key, id);
  TrainingRun& run = runs_.emplace(id, TrainingRun(added)).first->second;
  Put(added);
  Put(run.Change());
  Say("run_accepted", {{"run", std::to_string(id.value())}, {"name", run.spec().name}});
  if (run.learns() && !learner_.peer().empty()) {
    ForkLine(run, {});
    OpenStreamOf(run);
    TellLearner(now, run);
  }
  return RunAccepted{id};
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked&,
                                                 const SubmitEvaluation& submission) {
  if (const auto known = submissions_.FindJob(submission.key)) return JobAccepted{*known};
  if (const Status checked = CheckSubmission(submission); !checked) return Failed(checked.error());
  if (!store_.ok) return Failed({ErrorCode::kExhausted, WhyNoAdmission()});
  const Job& job =
      jobs_.Add(EvaluationPlan{submission.key, submission.device, submission.job}, now);
  submissions_.Remember(submission.key, job.id);
  Put(JobAdded{job.id, job.plan});
  return JobAccepted{job.id};
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint, const ClientAsked&,
                                                 const Unrecognized&) {
  return Failed({ErrorCode::kInvalidInput,
                 "this coordinator does not know the request: it is of an earlier release than the "
                 "command; bring it to that release"});
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked&,
                                                 const CancelRun& request) {
  TrainingRun* run = FindRun(request.run);
  if (run == nullptr) return NoRun(request.run);
  if (!run->live()) return StatusOf(now, *run);
  if (!store_.ok) return Failed({ErrorCode::kExhausted, WhyNoAdmission()});
  AbandonRun(now, *run, RunState::kCancelled, "");
  return StatusOf(now, *run);
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked&,
                                                 const GetCluster&) {
  return Cluster(now);
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked&,
                                                 const GetRun& request) {
  const TrainingRun* run = FindRun(request.run);
  if (run == nullptr) return NoRun(request.run);
  return StatusOf(now, *run);
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint, const ClientAsked& asked,
                                                 const GetJob& request) {
  QueryStore query{asked.client, asked.call, {}, "", ""};
  if (const Job* job = jobs_.Find(request.job)) {
    query.job_state = ToString(job->state);
    query.job_problem = job->problem.empty() ? WhyWaits(*job) : job->problem;
  }
  AskStore(std::move(query));
  return std::nullopt;
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked& asked,
                                                 const GetBest& request) {
  return QueryRun(now, asked, request.run);
}

std::optional<ClientReply> Coordinator::AnswerTo(TimePoint now, const ClientAsked& asked,
                                                 const GetHistory& request) {
  return QueryRun(now, asked, request.run);
}

std::optional<ClientReply> Coordinator::QueryRun(TimePoint now, const ClientAsked& asked,
                                                 RunId id) {
  const TrainingRun* run = FindRun(id);
  if (run == nullptr) return NoRun(id);
  AskStore(QueryStore{asked.client, asked.call, StatusOf(now, *run), "", ""});
  return std::nullopt;
}

void Coordinator::AskStore(QueryStore query) {
  // After what was put before, so that people find their own changes. A store that cannot write now
  // still knows what is durable, which is all that it tells.
  if (store_.ok)
    Durably(std::move(query));
  else
    Emit(std::move(query));
}

RunStatus Coordinator::StatusOf(TimePoint now, const TrainingRun& run) const {
  RunStatus status = run.Status();
  status.jobs_queued = jobs_.QueuedOf(run.id());
  status.jobs_leased = jobs_.LeasedOf(run.id());
  if (run.live() && status.problem.empty()) status.problem = WhyWaits(now, run);
  return status;
}

std::string Coordinator::WhyWaits(TimePoint now, const TrainingRun& run) const {
  if (run.state() == RunState::kFinishing)
    return learner_.alive(now) ? "waits for the learner's last batch"
                               : "waits for a learner: start warpsmith-learner";
  if (const std::string why = WhyNoAdmission(); !why.empty()) return why;
  bool some_can = false, some_has = false;
  const auto kind = KindFor(run);
  for (const auto& [id, worker] : workers_.all()) {
    if (!worker.Can(run.spec().policy)) continue;
    some_can = true;
    some_has |= kind && worker.Device(*kind, {});
  }
  if (!some_can) return "waits for a worker that runs policy " + run.spec().policy;
  if (run.learns() && !learner_.alive(now)) return "waits for a learner: start warpsmith-learner";
  if (run.learns() && !redis_.ok) return "waits for Redis: " + redis_.problem;
  if (!some_has)
    return kind ? std::string("waits for a worker with a device of kind ") + ToString(*kind)
                : "waits for a worker with a device that its tasks have train cases for";
  if (const auto [able, refusing] = Refusals(run); refusing > 0) {
    std::string what = "its weights " + ToString(run.line.required());
    for (const auto& [id, worker] : workers_.all())
      if (const auto why = worker.cannot_act.find(run.id()); why != worker.cannot_act.end())
        what = "its tasks (" + why->second + ")";
    return std::to_string(refusing) + " of " + std::to_string(able) + " workers refuse " + what +
           ": install the same release everywhere";
  }
  if (!run.spent() && run.Capacity() <= 0 && run.running_episodes() == 0)
    return "waits for the learner to consume what is accepted";
  return "";
}

std::string Coordinator::WhyWaits(const Job& job) const {
  const EvaluationPlan* plan = job.evaluation();
  if (job.state != JobState::kQueued || plan == nullptr) return "";
  if (const std::string why = WhyNoAdmission(); !why.empty()) return why;
  for (const auto& [id, worker] : workers_.all())
    if (KindFor(*plan, worker)) return "";
  if (ParseWord<DeviceKind>(plan->device))
    return "waits for a worker with a device of kind " + plan->device;
  const Task& task = plan->body.task;
  std::string kinds;
  for (const DeviceTraits& traits : AllDeviceTraits())
    if (!traits.modelled && !CasesOf(task, traits.kind).empty())
      kinds += (kinds.empty() ? "" : " or ") + std::string(ToString(traits.kind));
  return "waits for a worker with a device of kind " + kinds + ", for task " + task.id.value() +
         " has cases for no other";
}

ClusterStatus Coordinator::Cluster(TimePoint now) const {
  ClusterStatus status;
  status.epoch = epoch_;
  for (const auto& [id, run] : runs_) status.runs.push_back(StatusOf(now, run));
  for (const auto& [id, worker] : workers_.all()) {
    WorkerStatus row;
    row.id = id.value();
    row.name = worker.offer.name;
    row.state = workers_.torpid(worker, now) ? "torpid" : "alive";
    row.devices = worker.offer.devices;
    row.jobs_leased = static_cast<int64_t>(leases_.Count(id));
    row.results = worker.results;
    row.silent_s = std::chrono::duration<double>(now - worker.heard).count();
    status.workers.push_back(std::move(row));
  }
  status.learner_alive = learner_.alive(now);
  status.redis_alive = redis_.ok;
  const JobCounts& counts = jobs_.counts();
  status.jobs_submitted = counts.submitted;
  status.jobs_queued = counts.queued;
  status.jobs_leased = counts.leased;
  status.jobs_finished = counts.finished;
  status.jobs_cancelled = counts.cancelled;
  status.conservation_error = conservation_error();
  status.problem = WhyNoAdmission();
  return status;
}

}  // namespace warpsmith
