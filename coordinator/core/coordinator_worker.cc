// What workers say.
#include <algorithm>
#include <cmath>

#include "common/model/known.h"
#include "coordinator/core/coordinator.h"

namespace warpsmith {
namespace {

// Jobs at once; more is a mistake, and every one of them would be made and granted in one step.
constexpr uint32_t kMostCapacity = 1024;

// What a well-behaved worker cannot send; a broken one must not break the run, nor the store, which
// takes no NaN.
bool Plausible(const Evaluation& evaluation) {
  const double speedup = SpeedupOf(evaluation.outcome);
  return std::isfinite(speedup) && speedup >= 0;
}

bool Plausible(const Trajectory& trajectory, const RolloutPlan& plan) {
  const auto& turns = trajectory.turns;
  return trajectory.task == plan.task && trajectory.id.episode < plan.episodes && !turns.empty() &&
         turns.size() <= static_cast<size_t>(plan.turns) &&
         std::all_of(turns.begin(), turns.end(), [](const Turn& turn) {
           return std::isfinite(turn.reward) && Plausible(turn.evaluation);
         });
}

}  // namespace

void Coordinator::On(TimePoint now, WorkerSaid& event) {
  if (auto* offer = std::get_if<RegisterWorker>(&event.message)) {
    OnRegister(now, event.worker, std::move(*offer));
    return;
  }
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr) {
    // Whatever it said, it says again once it has registered.
    Emit(SendWorker{event.worker, Unknown{}});
    return;
  }
  worker->heard = now;
  std::visit([&](auto& message) { OnWorker(now, *worker, message); }, event.message);
}

// Of a later release, and nothing that this one's peers must say.
void Coordinator::OnWorker(TimePoint, Worker& worker, Unrecognized& message) {
  Warn("message_unrecognized",
       {{"worker", worker.id.value()}, {"number", std::to_string(message.number)}});
}

Result<uint32_t> Coordinator::CommonProtocol(const char* peer, uint32_t oldest, uint32_t newest) {
  newest = std::max(newest, oldest);
  if (newest >= kOldestProtocol && oldest <= kNewestProtocol)
    return std::min(newest, kNewestProtocol);
  return Fail(ErrorCode::kInvalidInput,
              "this coordinator speaks protocols " + std::to_string(kOldestProtocol) + " to " +
                  std::to_string(kNewestProtocol) + ", the " + peer + " " + std::to_string(oldest) +
                  " to " + std::to_string(newest) +
                  ": releases that are one apart work together, these are further");
}

void Coordinator::OnRegister(TimePoint now, const WorkerId& id, RegisterWorker offer) {
  const auto protocol = CommonProtocol("worker", offer.protocol_version, offer.newest_protocol);
  if (!protocol) {
    Warn("worker_refused",
         {{"worker", id.value()}, {"name", offer.name}, {"why", protocol.error().message}});
    Emit(SendWorker{id, Refused{protocol.error().message}});
    return;
  }
  if (const Status known = CheckKnown(offer.devices); !known) {
    Warn("worker_refused", {{"worker", id.value()}, {"why", known.error().message}});
    Emit(SendWorker{id, Refused{"devices" + known.error().message}});
    return;
  }
  offer.capacity = std::min(offer.capacity, kMostCapacity);
  if (workers_.Find(id) == nullptr)
    Say("worker_registered", {{"worker", id.value()}, {"name", offer.name}});
  Worker& worker = workers_.Register(id, std::move(offer), now);
  WelcomeWorker welcome{epoch_, settings_.heartbeat, settings_.lease, {}, *protocol};
  for (const HeldLease& held : worker.offer.held)
    if (auto adopted = Adopt(now, id, held)) welcome.adopted.push_back(*adopted);
  Emit(SendWorker{id, std::move(welcome)});
  for (const auto& [run_id, run] : runs_)
    if (run.live() && run.learns()) AnnounceTo(now, worker, run_id);
}

std::optional<HeldLease> Coordinator::Adopt(TimePoint now, const WorkerId& id,
                                            const HeldLease& held) {
  Job* job = jobs_.Find(held.job);
  if (job == nullptr || job->ended()) return std::nullopt;
  if (const Lease* lease = leases_.Find(job->id); lease != nullptr && lease->confirmed()) {
    // Its own, perhaps under a newer fence that it has not heard of: the word of an adoption was
    // lost, or a grant is still on its way.
    if (lease->worker != id || held.fence > lease->fence) return std::nullopt;
    leases_.Renew(job->id, lease->fence, id, now);
    return HeldLease{job->id, lease->fence, lease->device_index};
  }
  // Unconfirmed since a restart, or queued again because the worker was thought dead: its work goes
  // on, as a new attempt.
  leases_.Release(job->id);
  if (job->state == JobState::kLeased) jobs_.Queue(*job, now);
  jobs_.Lease(*job);
  const Fence fence{epoch_, job->attempt};
  leases_.Grant(job->id, fence, id, held.device_index);
  leases_.Begin(job->id, fence, now);
  Put(job->Change());
  Say("lease_adopted", {{"job", std::to_string(job->id.value())}, {"worker", id.value()}});
  return HeldLease{job->id, fence, held.device_index};
}

void Coordinator::OnWorker(TimePoint, Worker& worker, Heartbeat&) {
  Emit(SendWorker{worker.id, HeartbeatReply{epoch_}});
}

void Coordinator::OnWorker(TimePoint, Worker&, RegisterWorker&) {}  // OnRegister took it

void Coordinator::OnWorker(TimePoint now, Worker& worker, Progress& message) {
  if (leases_.Renew(message.job, message.fence, worker.id, now)) return;
  Emit(SendWorker{worker.id, CancelJob{message.job, message.fence}});
}

void Coordinator::OnWorker(TimePoint now, Worker& worker, TrajectoryResult& message) {
  leases_.Renew(message.job, message.fence, worker.id, now);
  const AckTrajectory ack{message.trajectory.id};
  Take(now, worker, message.trajectory);
  Acknowledge(worker.id, ack);
}

void Coordinator::OnWorker(TimePoint now, Worker& worker, EvaluationResult& message) {
  leases_.Renew(message.job, message.fence, worker.id, now);
  const AckEvaluation ack{message.job, message.index};
  Take(now, worker, message);
  Acknowledge(worker.id, ack);
}

// Whatever became of a result, its sender may forget it once what we know is durable. While the
// store cannot write, what is said again and again and holds nothing new must not pile up here: it
// will be said once more.
void Coordinator::Acknowledge(const WorkerId& worker, CoordinatorToWorker ack) {
  if (store_.ok || !records_.empty()) Durably(SendWorker{worker, std::move(ack)});
}

void Coordinator::Take(TimePoint now, Worker& worker, Trajectory& trajectory) {
  Job* job = jobs_.FindGroup(trajectory.id.run, trajectory.id.group);
  if (job == nullptr || job->ended()) return;  // the group has ended without it
  if (!Plausible(trajectory, *job->rollout())) {
    Warn("result_refused",
         {{"worker", worker.id.value()}, {"job", std::to_string(job->id.value())}});
    return;
  }
  const uint32_t episode = trajectory.id.episode;
  if (job->done[episode]) return;  // the first one won
  ++worker.results;
  TrainingRun& run = runs_.at(trajectory.id.run);
  const auto seq = run.Accept(trajectory);
  Put(TrajectoryAccepted{job->id, seq, std::move(trajectory)});
  if (seq) Durably(ExtendStream{run.id(), *seq + 1});
  PartDone(now, *job, episode);
}

void Coordinator::Take(TimePoint now, Worker& worker, EvaluationResult& message) {
  Job* job = jobs_.Find(message.job);
  if (job == nullptr || job->ended() || job->evaluation() == nullptr) return;
  if (message.index >= job->done.size() || !Plausible(message.evaluation)) {
    Warn("result_refused",
         {{"worker", worker.id.value()}, {"job", std::to_string(job->id.value())}});
    return;
  }
  if (job->done[message.index]) return;
  if (IsInfrastructure(message.evaluation.outcome)) {
    // Nobody's fault, so it is tried again elsewhere: the attempt has failed once nothing else of
    // it is to come.
    const Lease* lease = leases_.Find(job->id);
    if (lease == nullptr || lease->worker != worker.id || lease->fence != message.fence) return;
    job->sick.insert(message.index);
    if (job->sick.size() == job->missing)
      FailAttempt(now, *job, Describe(message.evaluation.outcome));
    return;
  }
  ++worker.results;
  Put(EvaluationAccepted{job->id, message.index, std::move(message.evaluation)});
  job->sick.erase(message.index);
  PartDone(now, *job, message.index);
  if (!job->ended() && job->sick.size() == job->missing)
    FailAttempt(now, *job, "every result still missing ended in infrastructure");
}

void Coordinator::PartDone(TimePoint now, Job& job, uint32_t part) {
  job.done[part] = true;
  job.progressed = true;
  --job.missing;
  if (job.missing > 0) return;
  // Late results of an earlier attempt can end a job that somebody else works on.
  CancelLease(job);
  FinishJob(now, job);
}

void Coordinator::OnWorker(TimePoint now, Worker& worker, JobFailed& message) {
  const Lease* lease = leases_.Find(message.job);
  if (lease == nullptr || lease->worker != worker.id || lease->fence != message.fence) return;
  Job& job = *jobs_.Find(message.job);
  if (message.policy_refuses && job.rollout() != nullptr) {
    TrainingRun& run = runs_.at(job.rollout()->run);
    worker.cannot_act[run.id()] = message.detail;
    if (AllRefuse(run)) {
      AbandonRun(now, run, RunState::kFailed, message.detail);
      return;
    }
    // That is its worker's lack, and no failure of the job.
    Warn("run_refused", {{"worker", worker.id.value()},
                         {"run", std::to_string(run.id().value())},
                         {"why", message.detail}});
    job.avoid.insert(worker.id);
    leases_.Release(job.id);
    jobs_.Queue(job, now);
    Put(job.Change());
    return;
  }
  FailAttempt(now, job, std::string(ToString(message.kind)) + ": " + message.detail);
}

void Coordinator::OnWorker(TimePoint, Worker& worker, WeightsInUse& message) {
  // A worker tells at each registration of runs that have long ended here.
  const TrainingRun* run = FindRun(message.run);
  if (run == nullptr || !run->live()) return;
  PolicyVersion& in_use = worker.in_use[message.run];
  in_use = std::max(in_use, message.version);
}

void Coordinator::OnWorker(TimePoint now, Worker& worker, WeightsRefused& message) {
  const RunId id = message.run;
  TrainingRun* run = FindRun(id);
  if (run == nullptr || !run->live()) return;
  // What counted as in use on its disk; newer ones than it once refused it may well use.
  const auto in_use = worker.in_use.find(id);
  if (in_use != worker.in_use.end() && in_use->second == message.version)
    worker.in_use.erase(in_use);
  const auto known = worker.refused.find(id);
  const std::string version = ToString(message.version), why = message.why;
  if (known == worker.refused.end() || known->second.version < message.version) {
    Warn("weights_refused", {{"worker", worker.id.value()},
                             {"run", std::to_string(id.value())},
                             {"version", version},
                             {"why", why}});
    worker.refused[id] = std::move(message);
  }
  if (run->state() == RunState::kRunning && AllRefuse(*run))
    AbandonRun(now, *run, RunState::kFailed,
               "no worker's policy takes its weights " + version + ": " + why);
}

std::pair<size_t, size_t> Coordinator::Refusals(const TrainingRun& run) const {
  const PolicyVersion& required = run.line.required();
  const auto kind = KindFor(run);
  std::pair<size_t, size_t> able_and_refusing{0, 0};
  if (!kind) return able_and_refusing;
  for (const auto& [id, worker] : workers_.all()) {
    if (worker.leaving || !worker.Can(run.spec().policy) || !worker.Device(*kind, {})) continue;
    ++able_and_refusing.first;
    if (worker.Refuses(run.id(), required)) ++able_and_refusing.second;
  }
  return able_and_refusing;
}

bool Coordinator::AllRefuse(const TrainingRun& run) const {
  const auto [able, refusing] = Refusals(run);
  return able > 0 && refusing == able;
}

void Coordinator::OnWorker(TimePoint, Worker& worker, Leaving&) {
  if (!worker.leaving) Say("worker_leaving", {{"worker", worker.id.value()}});
  worker.leaving = true;
}

void Coordinator::AnnounceTo(TimePoint now, Worker& worker, RunId run) {
  const auto* talk = learner_.FindTalk(run);
  if (talk == nullptr || !talk->weights) return;
  const auto in_use = worker.in_use.find(run);
  if (in_use != worker.in_use.end() && in_use->second >= talk->weights->version) return;
  worker.announced.emplace(run, now);
  Emit(SendWorker{worker.id, *talk->weights});
}

}  // namespace warpsmith
