#include "coordinator/core/coordinator.h"

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {
namespace {

constexpr int kReportsAfterEnd = 6;  // repetitions

}  // namespace

Coordinator::Coordinator(CoordinatorSettings settings, Snapshot snapshot, TimePoint now)
    : settings_(std::move(settings)),
      epoch_(snapshot.epoch),
      cluster_(std::move(snapshot.cluster)),
      jobs_(snapshot.last_job, snapshot.counts),
      leases_(settings_.lease, settings_.job_deadline),
      workers_(settings_.torpid, settings_.dead),
      learner_(settings_.dead) {
  learner_.Restore(snapshot.learners);
  for (RunSnapshot& run : snapshot.runs) {
    const RunId id = run.added.run;
    last_run_ = std::max(last_run_, id.value());
    submissions_.Remember(run.added.key, id);
    runs_.emplace(id, TrainingRun(std::move(run)));
  }
  for (const auto& [key, job] : snapshot.evaluation_keys) submissions_.Remember(key, job);
  for (const JobSnapshot& stored : snapshot.jobs) {
    Job& job = jobs_.Restore(stored, now);
    if (const RolloutPlan* rollout = job.rollout()) {
      runs_.at(rollout->run).Resume(rollout->group, job.missing);
      jobs_.SetDeadline(job, now + settings_.group_deadline);
    }
    if (job.state == JobState::kLeased)
      leases_.Unconfirmed(job.id, Fence{epoch_, job.attempt}, now);
  }
}

Effects Coordinator::Step(TimePoint now, Event event) {
  effects_.clear();
  std::visit([&](auto& what) { On(now, what); }, event);
  Dispatch(now);
  Flush(now);
  CHECK(jobs_.counts().error() == 0, "submitted = queued + leased + finished + cancelled");
  return std::move(effects_);
}

std::optional<TimePoint> Coordinator::NextDeadline() const {
  std::optional<TimePoint> next;
  const auto consider = [&](std::optional<TimePoint> when) {
    if (when && (!next || *when < *next)) next = when;
  };
  consider(jobs_.NextDeadline());
  consider(leases_.NextDeadline());
  consider(workers_.NextDeadline());
  for (const auto& [id, run] : runs_) {
    if (!run.live() || !run.learns()) continue;
    const auto* talk = learner_.FindTalk(id);
    if (talk == nullptr || !talk->told) continue;
    if (!talk->confirmed || run.state() == RunState::kFinishing)
      consider(*talk->told + settings_.repeat);
  }
  return next;
}

int64_t Coordinator::conservation_error() const {
  int64_t error = std::abs(jobs_.counts().error());
  for (const auto& [id, run] : runs_) error += run.ledger.errors();
  return error;
}

void Coordinator::On(TimePoint now, Stored& event) {
  CHECK(event.batch <= last_batch_, "only a batch that was given can be stored");
  while (!waiting_.empty() && waiting_.front().batch <= event.batch) {
    std::vector<AfterStored> actions = std::move(waiting_.front().actions);
    waiting_.pop_front();
    for (AfterStored& action : actions) Perform(now, std::move(action));
  }
}

void Coordinator::On(TimePoint, StoreHealth& event) {
  if (event.ok != store_.ok)
    event.ok ? Say("store_recovered", {}) : Warn("store_failed", {{"why", event.problem}});
  store_ = std::move(event);
}

void Coordinator::On(TimePoint, RedisHealth& event) {
  if (event.ok != redis_.ok)
    event.ok ? Say("redis_recovered", {}) : Warn("redis_failed", {{"why", event.problem}});
  redis_ = std::move(event);
}

void Coordinator::On(TimePoint now, TimePassed&) {
  for (const WorkerId& id : workers_.Dead(now)) {
    Warn("worker_dead", {{"worker", id.value()}});
    workers_.Remove(id);
    for (JobId job : leases_.Of(id)) FailAttempt(now, *jobs_.Find(job), "worker lost: silent");
  }
  for (const Lease& lease : leases_.Expired(now)) {
    Job& job = *jobs_.Find(lease.job);
    if (!lease.confirmed()) {
      // Nobody came back for it; that says nothing about the job.
      leases_.Release(job.id);
      jobs_.Queue(job, now);
      Put(job.Change());
      continue;
    }
    const bool total = lease.total_deadline <= now;
    TellCancelled(lease);
    FailAttempt(now, job,
                total ? "the attempt's total deadline passed" : "no progress for a lease time");
  }
  for (JobId id : jobs_.Overdue(now)) {
    Job& job = *jobs_.Find(id);
    CancelLease(job);
    GiveUp(now, job, "the group's deadline passed");
  }
  for (auto& [id, run] : runs_) {
    if (!run.live() || !run.learns()) continue;
    TellLearner(now, run);
    SettleRun(now, run);
  }
}

// ---- ends of things

void Coordinator::TellCancelled(const Lease& lease) {
  if (lease.confirmed() && workers_.Find(lease.worker) != nullptr)
    Emit(SendWorker{lease.worker, CancelJob{lease.job, lease.fence}});
}

void Coordinator::CancelLease(const Job& job) {
  const Lease* lease = leases_.Find(job.id);
  if (lease == nullptr) return;
  TellCancelled(*lease);
  leases_.Release(job.id);
}

void Coordinator::FailAttempt(TimePoint now, Job& job, const std::string& why) {
  const Lease* lease = leases_.Find(job.id);
  CHECK(lease != nullptr && lease->confirmed(), "an attempt belongs to a worker");
  job.avoid.insert(lease->worker);
  leases_.Release(job.id);
  job.failures = job.progressed ? 0 : job.failures + 1;
  job.problem = why;
  Warn("attempt_failed", {{"job", std::to_string(job.id.value())},
                          {"attempt", std::to_string(job.attempt)},
                          {"failures", std::to_string(job.failures)},
                          {"why", why}});
  if (job.failures >= settings_.max_failures) {
    GiveUp(now, job, why);
    return;
  }
  Duration wait{};
  if (job.failures > 0) {
    wait = settings_.retry_base;
    for (uint32_t i = 1; i < job.failures && wait < settings_.retry_cap; ++i) wait *= 2;
    wait = std::min(wait, settings_.retry_cap);
  }
  jobs_.Queue(job, now + wait);
  Put(job.Change());
}

void Coordinator::GiveUp(TimePoint now, Job& job, const std::string& why) {
  const RolloutPlan* rollout = job.rollout();
  job.masked = int64_t{job.missing} * (rollout != nullptr ? rollout->turns : 1);
  job.problem = "given up after " + std::to_string(job.attempt) + " attempts: " + why;
  Warn("job_given_up", {{"job", std::to_string(job.id.value())},
                        {"masked_evaluations", std::to_string(job.masked)},
                        {"why", why}});
  if (rollout != nullptr) runs_.at(rollout->run).GiveUp(job.missing, job.masked);
  job.missing = 0;
  FinishJob(now, job);
}

void Coordinator::FinishJob(TimePoint now, Job& job) {
  CHECK(leases_.Find(job.id) == nullptr && job.missing == 0, "a finished job is nobody's");
  jobs_.Finish(job);
  Put(job.Change());
  Durably(JobEndStored{job.id});
  if (const RolloutPlan* rollout = job.rollout()) {
    TrainingRun& run = runs_.at(rollout->run);
    run.GroupEnded(rollout->group);
    SettleRun(now, run);
  }
}

void Coordinator::SettleRun(TimePoint now, TrainingRun& run) {
  if (run.state() == RunState::kRunning && run.spent() && run.live_groups() == 0) {
    if (!run.learns()) {
      EndRun(now, run, RunState::kComplete, "");
      return;
    }
    run.SetState(RunState::kFinishing);
    Put(run.Change());
    Say("run_finishing",
        {{"run", std::to_string(run.id().value())}, {"end_seq", std::to_string(run.ledger.end())}});
    learner_.Talk(run.id()).told.reset();
    TellLearner(now, run);
  }
  if (run.state() != RunState::kFinishing || !run.ledger.drained()) return;
  const auto* talk = learner_.FindTalk(run.id());
  if (talk == nullptr || !talk->trained) return;
  // What is known to be consumed from a watermark only is reported soon; once the run has ended,
  // the learner forgets it. Reports that were lost with their process are not waited for for ever.
  if (run.ledger.fateless() > 0 && now - *talk->trained < kReportsAfterEnd * settings_.repeat)
    return;
  EndRun(now, run, RunState::kComplete, "");
}

void Coordinator::AbandonRun(TimePoint now, TrainingRun& run, RunState state,
                             const std::string& problem) {
  for (JobId id : jobs_.OfRun(run.id())) {
    Job& job = *jobs_.Find(id);
    CancelLease(job);
    run.GiveUp(job.missing, 0);
    job.problem = state == RunState::kFailed ? "its run failed" : "its run was cancelled";
    jobs_.Cancel(job);
    run.GroupEnded(job.rollout()->group);
    Put(job.Change());
    Durably(JobEndStored{id});
  }
  EndRun(now, run, state, problem);
}

void Coordinator::EndRun(TimePoint now, TrainingRun& run, RunState state,
                         const std::string& problem) {
  run.SetState(state, WallMs(now), problem);
  Put(run.Change());
  Say("run_ended", {{"run", std::to_string(run.id().value())},
                    {"state", ToString(state)},
                    {"problem", problem}});
  Durably(RunEndStored{run.id()});
}

// ---- effects and durability

void Coordinator::Perform(TimePoint now, AfterStored action) {
  if (auto* effect = std::get_if<Effect>(&action)) {
    Emit(std::move(*effect));
  } else if (auto* grant = std::get_if<GrantStored>(&action)) {
    SendGrant(now, *grant);
  } else if (auto* job = std::get_if<JobEndStored>(&action)) {
    jobs_.Forget(job->job);
  } else {
    const RunId run = std::get<RunEndStored>(action).run;
    learner_.Forget(run);
    workers_.ForgetRun(run);
    served_.erase({run, ""});
    if (!runs_.at(run).learns()) return;
    Emit(CloseStream{run});
    if (learner_.alive(now)) Emit(SendLearner{learner_.peer(), ForgetRun{run}});
  }
}

void Coordinator::Flush(TimePoint now) {
  if (!records_.empty()) {
    waiting_.push_back({++last_batch_, std::exchange(after_, {})});
    Emit(StoreRecords{last_batch_, std::exchange(records_, {})});
  } else if (!waiting_.empty()) {
    auto& actions = waiting_.back().actions;
    std::move(after_.begin(), after_.end(), std::back_inserter(actions));
    after_.clear();
  } else {
    for (AfterStored& action : std::exchange(after_, {})) Perform(now, std::move(action));
  }
}

TrainingRun* Coordinator::FindRun(RunId id) {
  const auto found = runs_.find(id);
  return found == runs_.end() ? nullptr : &found->second;
}

int64_t Coordinator::WallMs(TimePoint now) const {
  return settings_.started_wall_ms +
         std::chrono::duration_cast<std::chrono::milliseconds>(now - settings_.started).count();
}

}  // namespace warpsmith
