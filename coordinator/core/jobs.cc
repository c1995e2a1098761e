#include "coordinator/core/jobs.h"

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {
namespace {

RunId RunOf(const Job& job) { return job.rollout() ? job.rollout()->run : RunId{}; }

uint32_t Parts(const JobPlan& plan) {
  if (const auto* rollout = std::get_if<RolloutPlan>(&plan)) return rollout->episodes;
  return static_cast<uint32_t>(std::get<EvaluationPlan>(plan).body.candidates.size());
}

}  // namespace

JobQueueKey JobTable::QueueOf(const Job& job) {
  if (job.rollout()) return {job.rollout()->run, ""};
  return {RunId{}, job.evaluation()->device};
}

Job& JobTable::Insert(Job job) {
  const JobId id = job.id;
  if (const RolloutPlan* rollout = job.rollout()) groups_[{rollout->run, rollout->group}] = id;
  by_run_[RunOf(job)].insert(id);
  return jobs_.emplace(id, std::move(job)).first->second;
}

Job& JobTable::Add(JobPlan plan, TimePoint now) {
  Job job;
  job.id = JobId(++last_job_);
  job.missing = Parts(plan);
  CHECK(job.missing > 0, "a job has something to do");
  job.done.assign(job.missing, false);
  job.plan = std::move(plan);
  job.ready_at = now;
  ++counts_.submitted;
  ++counts_.queued;
  Job& added = Insert(std::move(job));
  ready_[QueueOf(added)].insert(added.id);
  return added;
}

Job& JobTable::Restore(const JobSnapshot& snapshot, TimePoint now) {
  Job job;
  job.id = snapshot.added.job;
  job.plan = snapshot.added.plan;
  job.state = snapshot.changed.state;
  job.attempt = snapshot.changed.attempt;
  job.failures = snapshot.changed.failures;
  job.problem = snapshot.changed.problem;
  job.done.assign(Parts(job.plan), false);
  for (uint32_t part : snapshot.done)
    if (part < job.done.size()) job.done[part] = true;
  job.missing = static_cast<uint32_t>(std::count(job.done.begin(), job.done.end(), false));
  job.ready_at = now;
  CHECK(!job.ended(), "jobs that have ended stay in the store");
  Job& restored = Insert(std::move(job));
  if (restored.state == JobState::kQueued)
    ready_[QueueOf(restored)].insert(restored.id);
  else
    ++leased_of_[RunOf(restored)];
  return restored;
}

Job* JobTable::Find(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const Job* JobTable::Find(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Job* JobTable::FindGroup(RunId run, GroupId group) {
  const auto found = groups_.find({run, group});
  return found == groups_.end() ? nullptr : Find(found->second);
}

std::vector<JobId> JobTable::OfRun(RunId run) const {
  const auto found = by_run_.find(run);
  if (found == by_run_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

void JobTable::Unqueue(Job& job) {
  const auto queue = ready_.find(QueueOf(job));
  if (queue != ready_.end()) {
    queue->second.erase(job.id);
    if (queue->second.empty()) ready_.erase(queue);
  }
  delayed_.erase({job.ready_at, job.id});
}

void JobTable::Lease(Job& job) {
  CHECK(job.state == JobState::kQueued, "only a queued job can be leased");
  Unqueue(job);
  job.state = JobState::kLeased;
  ++job.attempt;
  job.progressed = false;
  --counts_.queued;
  ++counts_.leased;
  ++leased_of_[RunOf(job)];
}

void JobTable::Queue(Job& job, TimePoint ready_at) {
  CHECK(job.state == JobState::kLeased, "only a leased job goes back to its queue");
  job.state = JobState::kQueued;
  job.ready_at = ready_at;
  job.sick.clear();
  --counts_.leased;
  ++counts_.queued;
  --leased_of_[RunOf(job)];
  delayed_.insert({ready_at, job.id});
}

void JobTable::End(Job& job) {
  CHECK(!job.ended(), "a job ends once");
  if (job.state == JobState::kQueued) {
    Unqueue(job);
    --counts_.queued;
  } else {
    --counts_.leased;
    --leased_of_[RunOf(job)];
  }
  if (job.deadline) deadlines_.erase({*job.deadline, job.id});
  const auto live = by_run_.find(RunOf(job));
  live->second.erase(job.id);
  if (live->second.empty()) by_run_.erase(live);
}

void JobTable::Finish(Job& job) {
  End(job);
  job.state = JobState::kFinished;
  ++counts_.finished;
}

void JobTable::Cancel(Job& job) {
  End(job);
  job.state = JobState::kCancelled;
  ++counts_.cancelled;
}

void JobTable::Forget(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  CHECK(found->second.ended(), "only a job that has ended is forgotten");
  if (const RolloutPlan* rollout = found->second.rollout())
    groups_.erase({rollout->run, rollout->group});
  jobs_.erase(found);
}

void JobTable::SetDeadline(Job& job, TimePoint deadline) {
  CHECK(!job.deadline, "a group has one deadline");
  job.deadline = deadline;
  deadlines_.insert({deadline, job.id});
}

void JobTable::Ripen(TimePoint now) {
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const JobId id = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    ready_[QueueOf(jobs_.at(id))].insert(id);
  }
}

std::vector<JobId> JobTable::Overdue(TimePoint now) const {
  std::vector<JobId> overdue;
  for (const auto& [deadline, id] : deadlines_) {
    if (deadline > now) break;
    overdue.push_back(id);
  }
  return overdue;
}

std::optional<TimePoint> JobTable::NextDeadline() const {
  std::optional<TimePoint> next;
  if (!delayed_.empty()) next = delayed_.begin()->first;
  if (!deadlines_.empty() && (!next || deadlines_.begin()->first < *next))
    next = deadlines_.begin()->first;
  return next;
}

const std::set<JobId>& JobTable::Ready(const JobQueueKey& key) const {
  static const std::set<JobId> kNone;
  const auto found = ready_.find(key);
  return found == ready_.end() ? kNone : found->second;
}

std::vector<JobQueueKey> JobTable::ReadyEvaluationQueues() const {
  std::vector<JobQueueKey> keys;
  for (const auto& [key, ids] : ready_) {
    if (key.run != RunId{}) break;  // ordered by run, evaluation queues first
    keys.push_back(key);
  }
  return keys;
}

int64_t JobTable::LeasedOf(RunId run) const {
  const auto found = leased_of_.find(run);
  return found == leased_of_.end() ? 0 : found->second;
}

int64_t JobTable::QueuedOf(RunId run) const {
  const auto found = by_run_.find(run);
  return found == by_run_.end() ? 0 : static_cast<int64_t>(found->second.size()) - LeasedOf(run);
}

bool JobTable::Audit() const {
  int64_t queued = 0, leased = 0;
  for (const auto& [id, job] : jobs_) {
    queued += job.state == JobState::kQueued;
    leased += job.state == JobState::kLeased;
  }
  return counts_.error() == 0 && counts_.queued == queued && counts_.leased == leased;
}

}  // namespace warpsmith
