#include <utility>

#include "worker/core/worker_core_impl.h"

namespace warpsmith {

void WorkerCore::Impl::Start(WorkerJob& job, size_t index) {
  uint64_t id = ++last_id;
  lanes.Started(now, id, {job.id, index, job.device_index});
  Evaluate effect{.id = id, .device_index = job.device_index};
  if (auto* rollout = std::get_if<RolloutWork>(&job.work)) {
    effect.task = rollout->job.task;
    effect.candidate = rollout->episodes[index].candidate();
    effect.depth = Depth::kScreen;
  } else {
    const auto& list = std::get<EvaluationWork>(job.work);
    effect.task = list.job.task;
    effect.candidate = list.job.candidates[index];
    effect.depth = list.job.depth;
  }
  effects.push_back(std::move(effect));
}

void WorkerCore::Impl::On(Evaluated event) {
  const auto open = lanes.Answered(now, event.id);
  if (!open || !open->job) return;  // of work that was dropped
  WorkerJob& job = *Find(*open->job);
  ++job.evaluations;
  Moved(job);
  if (!IsInfrastructure(event.evaluation.outcome)) sick_in_a_row = 0;
  if (std::holds_alternative<RolloutWork>(job.work)) {
    EpisodeEvaluated(job, open->index, std::move(event));
  } else {
    CandidateEvaluated(job, open->index, std::move(event));
  }
}

void WorkerCore::Impl::EpisodeEvaluated(WorkerJob& job, size_t index, Evaluated event) {
  auto& work = std::get<RolloutWork>(job.work);
  EpisodeRun& episode = work.episodes[index];
  std::string label = OutcomeLabel(event.evaluation.outcome);
  switch (episode.Evaluated(std::move(event.evaluation))) {
    case EpisodeRun::Next::kTryAgain: return job.ready.push_front(index);
    case EpisodeRun::Next::kTurn: return;
    case EpisodeRun::Next::kDeviceGone: return DeviceGone(job, label);
    case EpisodeRun::Next::kEnded: break;
  }
  Trajectory trajectory{.id = {work.job.run, work.job.group, episode.number()},
                        .task = work.job.task.id,
                        .turns = episode.turns(),
                        .device = options.devices[static_cast<size_t>(job.device_index)],
                        .finished_at_ms = event.wall_clock_ms};
  TrajectoryId id = trajectory.id;
  spool.Add(now, id, TrajectoryResult{job.id, job.fence, std::move(trajectory)});
}

void WorkerCore::Impl::CandidateEvaluated(WorkerJob& job, size_t index, Evaluated event) {
  auto& work = std::get<EvaluationWork>(job.work);
  if (const auto* trouble = std::get_if<Infrastructure>(&event.evaluation.outcome)) {
    if (++work.tries[index] < 2) return job.ready.push_front(index);
    if (MeansDeviceGone(trouble->kind)) {
      return DeviceGone(job, OutcomeLabel(event.evaluation.outcome));
    }
  }
  --work.left;
  uint32_t number = static_cast<uint32_t>(index);
  spool.Add(now, std::pair(job.id, number),
            EvaluationResult{job.id, job.fence, number, std::move(event.evaluation)});
}

void WorkerCore::Impl::DeviceGone(WorkerJob& job, const std::string& label) {
  FailJob(job.id, InfrastructureKind::kDeviceSick, "the device cannot judge: " + label);
  if (++sick_in_a_row < options.sick_jobs || drain_deadline) return;
  exit_after_drain =
      Exit{3, "its device failed " + std::to_string(sick_in_a_row) + " jobs in a row: " + label};
  BeginDrain(Duration::zero());
}

void WorkerCore::Impl::PollLanes() {
  for (int lane = 0; lane < static_cast<int>(options.devices.size()); ++lane) {
    while (lanes.Load(lane) < options.lane_window && !SpoolFull()) {
      WorkerJob* job = lanes.Next(lane, jobs);
      if (!job) break;
      const size_t index = job->ready.front();
      job->ready.pop_front();
      Start(*job, index);
    }
  }
}

}  // namespace warpsmith
