#include "coordinator/core/leases.h"

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {

TimePoint LeaseTable::Deadline(const Lease& lease) const {
  return std::min(lease.expires, lease.total_deadline);
}

void LeaseTable::Clock(Lease& lease, TimePoint expires) {
  if (lease.begun) deadlines_.erase({Deadline(lease), lease.job});
  lease.begun = true;
  lease.expires = expires;
  deadlines_.insert({Deadline(lease), lease.job});
}

void LeaseTable::Grant(JobId job, Fence fence, const WorkerId& worker, int32_t device_index) {
  CHECK(!worker.value().empty(), "a lease is granted to somebody");
  const bool fresh =
      leases_.emplace(job, Lease{job, fence, worker, device_index, false, {}, {}}).second;
  CHECK(fresh, "a job has at most one lease");
  by_worker_[worker].insert(job);
}

void LeaseTable::Begin(JobId job, Fence fence, TimePoint now) {
  const auto found = leases_.find(job);
  if (found == leases_.end() || found->second.fence != fence || found->second.begun) return;
  found->second.total_deadline = now + job_deadline_;
  Clock(found->second, now + lease_);
}

void LeaseTable::Unconfirmed(JobId job, Fence fence, TimePoint now) {
  const auto [place, fresh] = leases_.emplace(job, Lease{job, fence, WorkerId{}, 0, false, {}, {}});
  CHECK(fresh, "a job has at most one lease");
  place->second.total_deadline = now + lease_;
  Clock(place->second, now + lease_);
}

bool LeaseTable::Renew(JobId job, Fence fence, const WorkerId& worker, TimePoint now) {
  const auto found = leases_.find(job);
  if (found == leases_.end() || found->second.fence != fence || found->second.worker != worker)
    return false;
  if (found->second.begun) Clock(found->second, now + lease_);
  return true;
}

void LeaseTable::Release(JobId job) {
  const auto found = leases_.find(job);
  if (found == leases_.end()) return;
  const Lease& lease = found->second;
  if (lease.begun) deadlines_.erase({Deadline(lease), job});
  if (lease.confirmed()) {
    const auto jobs = by_worker_.find(lease.worker);
    jobs->second.erase(job);
    if (jobs->second.empty()) by_worker_.erase(jobs);
  }
  leases_.erase(found);
}

const Lease* LeaseTable::Find(JobId job) const {
  const auto found = leases_.find(job);
  return found == leases_.end() ? nullptr : &found->second;
}

std::vector<JobId> LeaseTable::Of(const WorkerId& worker) const {
  const auto found = by_worker_.find(worker);
  if (found == by_worker_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

size_t LeaseTable::Count(const WorkerId& worker) const {
  const auto found = by_worker_.find(worker);
  return found == by_worker_.end() ? 0 : found->second.size();
}

std::map<int32_t, size_t> LeaseTable::Load(const WorkerId& worker) const {
  std::map<int32_t, size_t> load;
  for (JobId job : Of(worker)) ++load[leases_.at(job).device_index];
  return load;
}

std::vector<Lease> LeaseTable::Expired(TimePoint now) const {
  std::vector<Lease> expired;
  for (const auto& [deadline, job] : deadlines_) {
    if (deadline > now) break;
    expired.push_back(leases_.at(job));
  }
  return expired;
}

std::optional<TimePoint> LeaseTable::NextDeadline() const {
  if (deadlines_.empty()) return std::nullopt;
  return deadlines_.begin()->first;
}

}  // namespace warpsmith
