// The choice of the next job: for each worker with room, the queue with the fewest leases, then the
// one served longest ago, and in it the oldest job that this worker may try. A run's queue grows by
// a group only when somebody is there to take it.
#include <algorithm>
#include <tuple>

#include "common/base/check.h"
#include "common/base/random.h"
#include "common/model/device_kind.h"
#include "coordinator/core/coordinator.h"

namespace warpsmith {

std::string Coordinator::WhyNoAdmission() const {
  if (!store_.ok) return "the store cannot write: " + store_.problem;
  if (waiting_.size() >= settings_.max_unstored_batches) return "the store is behind";
  return "";
}

void Coordinator::Dispatch(TimePoint now) {
  if (!WhyNoAdmission().empty()) return;
  jobs_.Ripen(now);
  for (bool assigned = true; assigned;) {
    assigned = false;
    for (auto& [id, worker] : workers_.all()) {
      if (worker.leaving || workers_.torpid(worker, now)) continue;
      if (leases_.Count(id) >= worker.offer.capacity) continue;
      assigned |= AssignOne(now, worker);
    }
  }
}

bool Coordinator::AssignOne(TimePoint now, Worker& worker) {
  std::vector<std::tuple<int64_t, uint64_t, JobQueueKey>> claims;
  const auto claim = [&](const JobQueueKey& key) {
    claims.emplace_back(jobs_.LeasedOf(key.run), served_[key], key);
  };
  for (const JobQueueKey& key : jobs_.ReadyEvaluationQueues()) claim(key);
  for (const auto& [id, run] : runs_)
    if (run.state() == RunState::kRunning) claim({id, ""});
  std::sort(claims.begin(), claims.end());
  for (const auto& [leased, served, key] : claims) {
    const bool assigned = key.run == RunId{} ? AssignEvaluation(now, worker, key)
                                             : AssignFromRun(now, worker, runs_.at(key.run));
    if (!assigned) continue;
    served_[key] = ++serves_;
    return true;
  }
  return false;
}

// Its own, or else the best one of the fleet that its tasks have train cases for.
std::optional<DeviceKind> Coordinator::KindFor(const TrainingRun& run) const {
  if (run.device()) return run.device();
  std::vector<DeviceKind> kinds;
  for (const DeviceTraits& traits : AllDeviceTraits())
    if (run.HasTasksFor(traits.kind)) kinds.push_back(traits.kind);
  return workers_.FirstKind(run.spec().policy, kinds);
}

// The kind that was asked for, or the best one of this worker, if the task has a case for it.
std::optional<DeviceKind> Coordinator::KindFor(const EvaluationPlan& plan, const Worker& worker) {
  const auto asked = ParseWord<DeviceKind>(plan.device);
  for (const DeviceTraits& traits : AllDeviceTraits())
    if ((!asked || traits.kind == *asked) && !CasesOf(plan.body.task, traits.kind).empty() &&
        worker.Device(traits.kind, {}))
      return traits.kind;
  return std::nullopt;
}

bool Coordinator::FreshEnough(TimePoint now, const Worker& worker, const TrainingRun& run) const {
  const PolicyVersion& required = run.line.required();
  if (worker.Refuses(run.id(), required)) return false;
  if (!run.learns() || required == PolicyVersion{}) return true;
  const auto in_use = worker.in_use.find(run.id());
  if (in_use != worker.in_use.end() && in_use->second >= required) return true;
  // It learns which policy to load from the run's first job, so a worker that has none yet is given
  // one, to wait with; likewise one whose report was lost. The job names its min_version. Never
  // while nobody is there to pull the weights from: the wait would look like a failed attempt.
  const auto* talk = learner_.FindTalk(run.id());
  if (!learner_.alive(now) || talk == nullptr || !talk->weights ||
      talk->weights->version < required)
    return false;
  const auto announced = worker.announced.find(run.id());
  const bool knows_policy = in_use != worker.in_use.end();
  if (knows_policy &&
      (announced == worker.announced.end() || now - announced->second < settings_.weights_grace))
    return false;
  const auto held = leases_.Of(worker.id);
  return std::none_of(held.begin(), held.end(), [&](JobId id) {
    const RolloutPlan* rollout = jobs_.Find(id)->rollout();
    return rollout != nullptr && rollout->run == run.id();
  });
}

bool Coordinator::MayTry(TimePoint now, const Worker& worker, const Job& job,
                         DeviceKind kind) const {
  if (!job.avoid.contains(worker.id)) return true;
  // Better elsewhere; here again only when there is no elsewhere.
  return std::none_of(workers_.all().begin(), workers_.all().end(), [&](const auto& entry) {
    const auto& [id, other] = entry;
    const TrainingRun* run = job.rollout() ? &runs_.at(job.rollout()->run) : nullptr;
    const bool able = run == nullptr || (other.Can(run->spec().policy) &&
                                         !other.Refuses(run->id(), run->line.required()));
    return able && !job.avoid.contains(id) && !other.leaving && !workers_.torpid(other, now) &&
           other.Device(kind, {}).has_value();
  });
}

bool Coordinator::AssignFromRun(TimePoint now, Worker& worker, TrainingRun& run) {
  if (!worker.Can(run.spec().policy)) return false;
  const auto kind = KindFor(run);
  if (!kind || !worker.Device(*kind, {})) return false;
  if (!FreshEnough(now, worker, run)) return false;
  for (JobId id : jobs_.Ready({run.id(), ""})) {
    Job& job = *jobs_.Find(id);
    if (!MayTry(now, worker, job, *kind)) continue;
    Grant(job, worker, *kind);
    return true;
  }
  if (run.learns() && !redis_.ok) return false;
  const auto plan = run.NextGroup(*kind);
  if (!plan) return false;
  run.Admit(*plan, *kind);
  Put(run.Change());
  Job& job =
      jobs_.Add(RolloutPlan{run.id(), plan->group, plan->task, plan->episodes, plan->turns}, now);
  Put(JobAdded{job.id, job.plan});
  jobs_.SetDeadline(job, now + settings_.group_deadline);
  Grant(job, worker, *kind);
  return true;
}

bool Coordinator::AssignEvaluation(TimePoint now, Worker& worker, const JobQueueKey& key) {
  const auto asked = ParseWord<DeviceKind>(key.device);
  if (asked && !worker.Device(*asked, {})) return false;  // nor any job of this queue
  for (JobId id : jobs_.Ready(key)) {
    Job& job = *jobs_.Find(id);
    const auto kind = KindFor(*job.evaluation(), worker);
    if (!kind || !MayTry(now, worker, job, *kind)) continue;
    Grant(job, worker, *kind);
    return true;
  }
  return false;
}

void Coordinator::Grant(Job& job, const Worker& worker, DeviceKind kind) {
  const auto device = worker.Device(kind, leases_.Load(worker.id));
  CHECK(device.has_value(), "a job is granted only where its device is");
  jobs_.Lease(job);
  const Fence fence{epoch_, job.attempt};
  leases_.Grant(job.id, fence, worker.id, *device);
  Put(job.Change());
  // The lease's clock starts when the grant is sent: a slow store costs nobody an attempt.
  Durably(GrantStored{job.id, fence});
}

void Coordinator::SendGrant(TimePoint now, const GrantStored& grant) {
  const Lease* lease = leases_.Find(grant.job);
  if (lease == nullptr || lease->fence != grant.fence) return;  // ended or moved meanwhile
  leases_.Begin(grant.job, grant.fence, now);
  const Job& job = *jobs_.Find(grant.job);
  // The weights first, so that the worker can pull what the job will wait for.
  if (const RolloutPlan* rollout = job.rollout())
    if (Worker* worker = workers_.Find(lease->worker)) AnnounceTo(now, *worker, rollout->run);
  Emit(SendWorker{lease->worker, AssignJob{job.id, lease->fence, lease->device_index,
                                           settings_.lease, settings_.job_deadline, BodyOf(job)}});
}

JobBody Coordinator::BodyOf(const Job& job) const {
  if (const EvaluationPlan* evaluation = job.evaluation()) return evaluation->body;
  const RolloutPlan& plan = *job.rollout();
  const TrainingRun& run = runs_.at(plan.run);
  RolloutJob body;
  body.run = plan.run;
  body.group = plan.group;
  const Task* task = FindTask(run.spec(), plan.task);
  CHECK(task != nullptr, "a group's task is one of its run's");
  body.task = *task;
  body.policy = run.spec().policy;
  for (uint32_t episode = 0; episode < plan.episodes; ++episode)
    if (!job.done[episode]) body.episodes.push_back(episode);
  body.turns = plan.turns;
  body.reward = run.spec().reward;
  body.seed = MixSeed({run.spec().seed, plan.group.value()});
  if (run.learns()) body.min_version = run.line.required();
  return body;
}

}  // namespace warpsmith
