// A lease is moved by right only: what an event may do to leases is worked out before the step from
// what it says, and compared with what the step did.
#include "tests/simulation/invariants.h"

namespace warpsmith::sim {
namespace {

std::map<JobId, Lease> LeasesOf(const Coordinator& core) {
  std::map<JobId, Lease> leases;
  const auto add = [&](RunId run) {
    for (JobId job : core.jobs().OfRun(run))
      if (const Lease* lease = core.leases().Find(job)) leases.emplace(job, *lease);
  };
  add(RunId{});  // evaluations
  for (const auto& [id, run] : core.runs()) add(id);
  return leases;
}

TimePoint EndOf(const Lease& lease) { return std::min(lease.expires, lease.total_deadline); }

}  // namespace

void Invariants::BeforeStep(const Coordinator& core, const Event& event) {
  leases_ = LeasesOf(core);
  may_end_.clear();
  may_renew_.clear();
  time_passed_ = std::holds_alternative<TimePassed>(event);
  // A run can be cancelled or refused.
  all_may_end_ = time_passed_ || std::holds_alternative<ClientAsked>(event) ||
                 std::holds_alternative<LearnerSaid>(event);
  if (const auto* said = std::get_if<WorkerSaid>(&event)) Rights(core, *said);
}

void Invariants::Rights(const Coordinator& core, const WorkerSaid& event) {
  if (core.workers().all().count(event.worker) == 0 &&
      !std::holds_alternative<RegisterWorker>(event.message))
    return;  // a stranger may do nothing
  const auto in_force = [&](JobId job, const Fence& fence) {
    const Lease* lease = core.leases().Find(job);
    return lease != nullptr && lease->fence == fence && lease->worker == event.worker;
  };
  const auto renews = [&](JobId job, const Fence& fence) {
    if (in_force(job, fence)) may_renew_.insert(job);
  };
  if (const auto* offer = std::get_if<RegisterWorker>(&event.message)) {
    for (const HeldLease& held : offer->held) {
      const Lease* lease = core.leases().Find(held.job);
      if (lease == nullptr) continue;
      if (!lease->confirmed()) may_end_.insert(held.job);  // adopted: its lease is a new one
      if (lease->worker == event.worker) may_renew_.insert(held.job);
    }
  } else if (const auto* progress = std::get_if<Progress>(&event.message)) {
    renews(progress->job, progress->fence);
  } else if (const auto* failed = std::get_if<JobFailed>(&event.message)) {
    if (in_force(failed->job, failed->fence)) may_end_.insert(failed->job);
  } else if (const auto* trajectory = std::get_if<TrajectoryResult>(&event.message)) {
    renews(trajectory->job, trajectory->fence);
    may_end_.insert(trajectory->job);  // the first result wins, from whatever attempt
  } else if (const auto* evaluation = std::get_if<EvaluationResult>(&event.message)) {
    renews(evaluation->job, evaluation->fence);
    const bool infrastructure = IsInfrastructure(evaluation->evaluation.outcome);
    if (infrastructure) unjudged_.insert({evaluation->job, evaluation->index});
    if (!infrastructure || in_force(evaluation->job, evaluation->fence))
      may_end_.insert(evaluation->job);
  }
}

void Invariants::LeasesMovedByRight(const Coordinator& core, TimePoint now) {
  for (const auto& [job, before] : leases_) {
    const Lease* lease = core.leases().Find(job);
    const std::string name = "job " + std::to_string(job.value()) + ": ";
    if (lease == nullptr || lease->fence != before.fence)
      Check(
          all_may_end_ || may_end_.contains(job),
          name + "a lease ends by its deadline, a result, its own worker's word or its run's end");
    else if (before.begun && lease->expires != before.expires)
      Check(may_renew_.contains(job),
            name + "only what its own worker says of this attempt renews a lease");
  }
  const auto next = core.NextDeadline();
  for (const auto& [job, lease] : LeasesOf(core)) {
    if (!lease.begun) continue;
    const std::string name = "job " + std::to_string(job.value()) + ": ";
    Check(next && *next <= EndOf(lease), name + "the end of a lease is waited for");
    if (time_passed_) Check(EndOf(lease) > now, name + "no lease outlives its deadline");
  }
}

}  // namespace warpsmith::sim
