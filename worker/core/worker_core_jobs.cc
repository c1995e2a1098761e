#include <algorithm>
#include <utility>

#include "common/model/known.h"
#include "worker/core/worker_core_impl.h"

namespace warpsmith {
namespace {

// Jobs above the capacity that are still taken: a grant may cross a result on the wire.
constexpr size_t kCapacitySlack = 2;

}  // namespace

void WorkerCore::Impl::On(AssignJob assign) {
  // Before it is welcomed again the worker cannot know whether this grant still stands: its lease
  // ends, and the job goes out again.
  if (!link.registered()) return;
  if (WorkerJob* held = Find(assign.job)) {
    if (assign.fence <= held->fence) return;  // a copy of a grant
    Drop(assign.job, "granted again under another fence");
  }
  auto refuse = [&](InfrastructureKind kind, std::string why) {
    Send(JobFailed{assign.job, assign.fence, kind, std::move(why)});
  };
  if (const Status known = CheckKnown(assign.body); !known)
    return refuse(InfrastructureKind::kInternal, known.error().message);
  if (drain_deadline) return refuse(InfrastructureKind::kWorkerLost, "the worker is leaving");
  if (jobs.size() >= options.capacity + kCapacitySlack) {
    return refuse(InfrastructureKind::kInternal, "the worker holds all the jobs it can");
  }
  if (assign.device_index < 0 ||
      static_cast<size_t>(assign.device_index) >= options.devices.size()) {
    return refuse(InfrastructureKind::kDeviceLost, "the worker has no such lane");
  }
  WorkerJob job{.id = assign.job,
                .fence = assign.fence,
                .device_index = assign.device_index,
                .deadline = now + assign.total_deadline,
                .progress_at = now,
                .renew_at = now + RenewInterval()};
  if (auto* rollout = std::get_if<RolloutJob>(&assign.body)) {
    if (std::find(options.policies.begin(), options.policies.end(), rollout->policy) ==
        options.policies.end()) {
      return refuse(InfrastructureKind::kInternal, "the worker runs no policy " + rollout->policy);
    }
    weights.KnowPolicy(rollout->run, rollout->policy);
    Begin(job, std::move(*rollout));
  } else {
    Begin(job, std::move(std::get<EvaluationJob>(assign.body)));
  }
  spool.Refence(job.id, job.fence);
  SayJob("job_began", job);
  jobs.emplace(job.id, std::move(job));
  Retire(assign.job);
}

void WorkerCore::Impl::Begin(WorkerJob& job, RolloutJob rollout) {
  RolloutWork work{.job = std::move(rollout)};
  for (uint32_t number : work.job.episodes) {
    if (spool.Holds(TrajectoryId{work.job.run, work.job.group, number})) continue;
    work.episodes.emplace_back(number, work.job.seed, work.job.turns, work.job.reward);
  }
  job.work = std::move(work);
}

void WorkerCore::Impl::Begin(WorkerJob& job, EvaluationJob list) {
  EvaluationWork work{.job = std::move(list)};
  work.tries.resize(work.job.candidates.size());
  for (size_t index = 0; index < work.job.candidates.size(); ++index) {
    if (!spool.HoldsVerdict(std::pair(job.id, static_cast<uint32_t>(index)))) {
      job.ready.push_back(index);
    }
  }
  work.left = job.ready.size();
  job.work = std::move(work);
}

void WorkerCore::Impl::On(const CancelJob& cancel) {
  WorkerJob* job = Find(cancel.job);
  if (job && job->fence == cancel.fence) Drop(cancel.job, "cancelled");
}

void WorkerCore::Impl::Drop(JobId id, const std::string& why) {
  WorkerJob* job = Find(id);
  if (!job) return;
  if (!job->Finished()) SayJob("job_dropped", *job, why);
  desk.Forget(id);
  lanes.Forget(id);
  jobs.erase(id);
}

void WorkerCore::Impl::FailJob(JobId id, InfrastructureKind kind, const std::string& detail,
                               bool policy_refuses) {
  WorkerJob* job = Find(id);
  if (!job) return;
  FlushSpool();  // what it finished goes out before the word that it failed
  SayJob("job_failed", *job, detail);
  Send(JobFailed{id, job->fence, kind, detail, policy_refuses});
  Drop(id, "failed");
}

void WorkerCore::Impl::Retire(JobId id) {
  WorkerJob* job = Find(id);
  if (job && job->Finished() && spool.Of(id) == 0) jobs.erase(id);
}

Duration WorkerCore::Impl::RenewInterval() const {
  return std::max(link.lease() / 3, options.progress_interval);
}

bool WorkerCore::Impl::Stands(const WorkerJob& job) const {
  if (job.Finished()) return false;
  const auto within = [&](TimePoint since) { return now - since < options.longest_answer; };
  const bool at_lane = !job.ready.empty() || lanes.Has(job.id);
  if (at_lane && lanes.Load(job.device_index) > 0 && within(lanes.moved(job.device_index)))
    return true;
  const auto* work = std::get_if<RolloutWork>(&job.work);
  const auto& ask = desk.open();
  if (!work || !ask || !within(ask->since)) return false;
  if (ask->load && ask->load->run == work->job.run) return true;
  if (weights.loaded(work->job.run) < work->job.min_version) return false;
  return std::any_of(work->episodes.begin(), work->episodes.end(), [](const EpisodeRun& episode) {
    return episode.state() == EpisodeRun::State::kActing ||
           episode.state() == EpisodeRun::State::kWaiting;
  });
}

void WorkerCore::Impl::Acknowledged(const ResultKey& key) {
  if (!spool.Acknowledge(key)) return;
  std::vector<JobId> held;
  for (const auto& [id, job] : jobs) held.push_back(id);
  for (JobId id : held) Retire(id);
}

void WorkerCore::Impl::FailHopeless() {
  std::vector<std::pair<JobId, std::string>> hopeless;
  for (const auto& [id, job] : jobs) {
    const auto* work = std::get_if<RolloutWork>(&job.work);
    if (!work || job.Finished()) continue;
    if (auto why = weights.Hopeless(work->job.run, work->job.min_version))
      hopeless.emplace_back(id, *std::move(why));
  }
  for (const auto& [id, why] : hopeless) FailJob(id, InfrastructureKind::kInternal, why);
}

void WorkerCore::Impl::PollJobs() {
  std::vector<JobId> late;
  for (const auto& [id, job] : jobs) {
    if (now >= job.deadline && !job.Finished()) late.push_back(id);
  }
  for (JobId id : late) FailJob(id, InfrastructureKind::kInternal, "its total deadline passed");
  FailHopeless();
  for (auto& [id, job] : jobs) {
    if (!link.registered()) continue;
    if (job.moved ? now >= job.progress_at : now >= job.renew_at && Stands(job)) {
      job.moved = false;
      job.progress_at = now + options.progress_interval;
      job.renew_at = now + RenewInterval();
      Send(Progress{id, job.fence, job.evaluations});
    }
  }
}

void WorkerCore::Impl::FlushSpool() {
  if (!link.registered()) return;
  for (WorkerMessage& message : spool.Due(now)) Send(std::move(message));
}

}  // namespace warpsmith
