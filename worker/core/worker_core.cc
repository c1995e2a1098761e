#include "worker/core/worker_core.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "worker/core/worker_core_impl.h"

namespace warpsmith {
namespace {

// How long a draining worker waits for acknowledgements after its last job.
constexpr Duration kLinger = std::chrono::seconds(3);

}  // namespace

void WorkerCore::Impl::Say(std::string event,
                           std::vector<std::pair<std::string, std::string>> fields) {
  effects.push_back(LogLine{false, std::move(event), std::move(fields)});
}

void WorkerCore::Impl::SayJob(const char* event, const WorkerJob& job, const std::string& why) {
  Say(event, {{"job", std::to_string(job.id.value())},
              {"attempt", std::to_string(job.fence.attempt)},
              {"why", why}});
}

void WorkerCore::Impl::SayWeights(const char* event, RunId run, PolicyVersion version,
                                  const std::string& why) {
  Say(event, {{"run", std::to_string(run.value())}, {"version", ToString(version)}, {"why", why}});
}

WorkerJob* WorkerCore::Impl::Find(JobId id) {
  auto it = jobs.find(id);
  return it == jobs.end() ? nullptr : &it->second;
}

void WorkerCore::Impl::End(int status, std::string why) {
  if (ended) return;
  ended = true;
  effects.push_back(Exit{status, std::move(why)});
}

void WorkerCore::Impl::On(Heard event) {
  link.Heard(now);
  std::visit([&](auto& message) { On(std::move(message)); }, event.message);
}

void WorkerCore::Impl::BeginDrain(Duration grace) {
  if (!drain_deadline) {
    Say("draining", {{"jobs", std::to_string(jobs.size())}});
    Send(Leaving{});
  }
  TimePoint deadline = now + grace;
  drain_deadline = drain_deadline ? std::min(*drain_deadline, deadline) : deadline;
}

void WorkerCore::Impl::PollDrain() {
  if (!drain_deadline) return;
  if (now >= *drain_deadline && !handed_back) {
    handed_back = true;
    std::vector<JobId> unfinished;
    for (const auto& [id, job] : jobs) {
      if (!job.Finished()) unfinished.push_back(id);
    }
    for (JobId id : unfinished) FailJob(id, InfrastructureKind::kWorkerLost, "the worker stops");
  }
  bool working = std::any_of(jobs.begin(), jobs.end(),
                             [](const auto& item) { return !item.second.Finished(); });
  if (working || (spool.size() > 0 && now < *drain_deadline + kLinger)) return;
  if (exit_after_drain) return End(exit_after_drain->status, exit_after_drain->why);
  End(0, spool.size() == 0 ? "drained" : "drained, unacknowledged=" + std::to_string(spool.size()));
}

void WorkerCore::Impl::Poll() {
  PollLink();
  PollJobs();
  PollLanes();
  PollPolicy();
  while (std::optional<WeightsAnnouncement> next = weights.NextPull(now)) {
    effects.push_back(PullWeights{*std::move(next)});
  }
  FlushSpool();
  PollDrain();
}

std::optional<TimePoint> WorkerCore::Impl::NextDeadline() const {
  std::optional<TimePoint> next;
  auto due = [&](std::optional<TimePoint> when) {
    if (when) next = next ? std::min(*next, *when) : *when;
  };
  if (ended) return next;
  due(link.NextDeadline(!jobs.empty()));
  if (link.registered()) due(spool.NextDue());
  for (const auto& [id, job] : jobs) {
    if (!job.Finished()) due(job.deadline);
    if (!link.registered()) continue;
    if (job.moved)
      due(job.progress_at);
    else if (Stands(job))
      due(job.renew_at);
  }
  due(weights.NextDeadline());
  if (drain_deadline) due(handed_back ? *drain_deadline + kLinger : *drain_deadline);
  return next;
}

WorkerCore::WorkerCore(WorkerCoreOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
WorkerCore::~WorkerCore() = default;

WorkerEffects WorkerCore::Step(TimePoint now, WorkerEvent event) {
  CHECK(now >= impl_->now, "time does not go back");
  impl_->now = now;
  if (impl_->ended) return {};
  std::visit([&](auto& e) { impl_->On(std::move(e)); }, event);
  if (!impl_->ended) impl_->Poll();
  return std::exchange(impl_->effects, {});
}

std::optional<TimePoint> WorkerCore::NextDeadline() const { return impl_->NextDeadline(); }

bool WorkerCore::registered() const { return impl_->link.registered(); }
size_t WorkerCore::jobs() const { return impl_->jobs.size(); }
size_t WorkerCore::spooled() const { return impl_->spool.size(); }

}  // namespace warpsmith
