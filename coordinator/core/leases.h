// The time-limited right of one worker to work on one attempt of a job. A job has at most one
// lease. Progress renews it, a heartbeat does not, and a total deadline ends it in any case. After
// a restart a lease is unconfirmed, without a worker, until its worker says that it still works on
// the job.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/model/run.h"

namespace warpsmith {

struct Lease {
  JobId job;
  Fence fence;
  WorkerId worker;  // empty: unconfirmed
  int32_t device_index = 0;
  bool begun = false;  // the clock runs: the grant is durable and has been sent
  TimePoint expires{};
  TimePoint total_deadline{};

  bool confirmed() const { return !worker.value().empty(); }
};

// Pure; not shared among threads.
class LeaseTable {
 public:
  LeaseTable(Duration lease, Duration job_deadline) : lease_(lease), job_deadline_(job_deadline) {}

  void Grant(JobId job, Fence fence, const WorkerId& worker, int32_t device_index);
  // Starts the clock of this very grant, if it still stands.
  void Begin(JobId job, Fence fence, TimePoint now);
  // For one lease time, its worker may report.
  void Unconfirmed(JobId job, Fence fence, TimePoint now);
  // False: this attempt holds no lease with this worker.
  bool Renew(JobId job, Fence fence, const WorkerId& worker, TimePoint now);
  void Release(JobId job);

  const Lease* Find(JobId job) const;
  std::vector<JobId> Of(const WorkerId& worker) const;
  size_t Count(const WorkerId& worker) const;
  // By device index: how many leases of the worker it has.
  std::map<int32_t, size_t> Load(const WorkerId& worker) const;
  std::vector<Lease> Expired(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;
  size_t size() const { return leases_.size(); }

 private:
  TimePoint Deadline(const Lease& lease) const;
  void Clock(Lease& lease, TimePoint expires);

  Duration lease_;
  Duration job_deadline_;
  std::map<JobId, Lease> leases_;
  std::map<WorkerId, std::set<JobId>> by_worker_;
  std::set<std::pair<TimePoint, JobId>> deadlines_;
};

}  // namespace warpsmith
