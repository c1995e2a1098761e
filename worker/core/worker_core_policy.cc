#include <algorithm>
#include <utility>

#include "worker/core/worker_core_impl.h"

namespace warpsmith {

void WorkerCore::Impl::On(const PolicyReplied& event) {
  std::visit([&](const auto& reply) { Replied(reply); }, event.message);
}

void WorkerCore::Impl::Replied(const ActReply& reply) {
  const auto answered = desk.TakeAct(reply.id);
  WorkerJob* job = answered && answered->job ? Find(*answered->job) : nullptr;
  if (!job) return;
  auto& work = std::get<RolloutWork>(job->work);
  if (!reply.problem.empty())
    return FailJob(job->id, InfrastructureKind::kInternal,
                   "the policy cannot act: " + reply.problem, true);
  if (reply.actions.size() != answered->episodes.size())
    return FailJob(job->id, InfrastructureKind::kInternal,
                   "the policy gave a wrong number of actions");
  bool outdated = std::any_of(reply.actions.begin(), reply.actions.end(),
                              [&](const Action& a) { return a.version < work.job.min_version; });
  if (outdated) {
    // The child has forgotten the run's weights: they are loaded again before it is asked again.
    weights.Unloaded(work.job.run);
    return ActFailed(*job, answered->episodes, "the policy acted with weights older than asked");
  }
  Moved(*job);
  for (size_t i = 0; i < answered->episodes.size(); ++i) {
    work.episodes[answered->episodes[i]].Acted(reply.actions[i]);
    job->ready.push_back(answered->episodes[i]);
  }
}

void WorkerCore::Impl::Replied(const WeightsLoaded& reply) {
  const auto asked = desk.TakeLoad(reply.id);
  if (!asked) return;
  const LoadWeights& load = *asked;
  if (!reply.problem.empty()) {
    SayWeights("weights_not_loaded", load.run, load.version, reply.problem);
    if (weights.LoadFailed(now, load, reply.problem)) Refuse(load);
    return;
  }
  weights.Loaded(load.run, load.version);
  SayWeights("weights_in_use", load.run, load.version);
  Send(WeightsInUse{load.run, weights.loaded(load.run)});
}

void WorkerCore::Impl::On(const PolicyLost& event) {
  weights.Unloaded();
  const auto lost = desk.TakeLost();
  if (!lost) return;
  if (lost->load && weights.LoadDied(*lost->load, "the policy process dies of them: " + event.why))
    Refuse(*lost->load);
  if (WorkerJob* job = lost->job ? Find(*lost->job) : nullptr) {
    ActFailed(*job, lost->episodes, "the policy process died: " + event.why);
  }
}

void WorkerCore::Impl::ActFailed(WorkerJob& job, const std::vector<size_t>& episodes,
                                 const std::string& why) {
  auto& work = std::get<RolloutWork>(job.work);
  for (size_t index : episodes) work.episodes[index].ActFailed();
  if (++job.policy_failures >= options.policy_failures) {
    FailJob(job.id, InfrastructureKind::kInternal, why);
  }
}

void WorkerCore::Impl::Refuse(const LoadWeights& load) {
  SayWeights("weights_refused", load.run, load.version);
  SendRefused(load.run);
}

void WorkerCore::Impl::SendRefused(RunId run) {
  for (WeightsRefused& refused : weights.Refused()) {
    if (refused.run == run) Send(std::move(refused));
  }
}

void WorkerCore::Impl::On(const WeightsAnnouncement& announcement) {
  bool in_use_already = weights.Announce(announcement);
  if (weights.Refuses(announcement.run, announcement.version)) {
    return SendRefused(announcement.run);  // what was said before may be lost
  }
  if (!in_use_already) return;
  for (const WeightsInUse& in_use : weights.InUse()) {
    if (in_use.run == announcement.run) Send(in_use);
  }
}

void WorkerCore::Impl::On(const WeightsPulled& event) {
  if (weights.Pulled(event.run, event.version, event.path)) {
    Send(WeightsInUse{event.run, event.version});
  }
}

void WorkerCore::Impl::On(const WeightsPullFailed& event) {
  SayWeights("weights_pull_failed", event.run, event.version, event.why);
  weights.PullFailed(now, event.run);
}

bool WorkerCore::Impl::AskForLoad() {
  std::optional<LoadWeights> load = weights.NextLoad();
  if (!load) return false;
  load->id = ++last_id;
  desk.Asked({.id = load->id, .load = *load, .since = now});
  effects.push_back(AskPolicy{*std::move(load)});
  return true;
}

bool WorkerCore::Impl::AskForActions(WorkerJob& job) {
  auto* work = std::get_if<RolloutWork>(&job.work);
  if (!work || weights.loaded(work->job.run) < work->job.min_version) return false;
  ActRequest request{.run = work->job.run,
                     .policy = work->job.policy,
                     .task = work->job.task,
                     .device = options.devices[static_cast<size_t>(job.device_index)]};
  OpenAsk open{.job = job.id, .since = now};
  for (size_t i = 0; i < work->episodes.size(); ++i) {
    EpisodeRun& episode = work->episodes[i];
    if (episode.state() != EpisodeRun::State::kWaiting) continue;
    request.episodes.push_back(episode.Observe());
    episode.BeginAct();
    open.episodes.push_back(i);
  }
  if (open.episodes.empty()) return false;
  request.id = open.id = ++last_id;
  desk.Asked(std::move(open));
  effects.push_back(AskPolicy{std::move(request)});
  return true;
}

void WorkerCore::Impl::PollPolicy() {
  if (desk.busy() || AskForLoad() || SpoolFull()) return;
  // In turn: the first job after the one asked for last.
  for (auto it = jobs.upper_bound(desk.last_asked()); it != jobs.end(); ++it) {
    if (AskForActions(it->second)) return;
  }
  for (auto& [id, job] : jobs) {
    if (AskForActions(job)) return;
  }
}

}  // namespace warpsmith
