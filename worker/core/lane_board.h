// Which evaluations are with which lane, and whose turn it is there. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "common/base/clock.h"
#include "worker/core/worker_job.h"

namespace warpsmith {

struct OpenEvaluation {
  std::optional<JobId> job;  // nothing once the job is gone: the lane is still busy with it
  size_t index = 0;          // of the episode in its work, or of the candidate
  int lane = 0;              // the device's index
};

class LaneBoard {
 public:
  void Started(TimePoint now, uint64_t id, const OpenEvaluation& evaluation);
  // Nothing: no such evaluation is open.
  std::optional<OpenEvaluation> Answered(TimePoint now, uint64_t id);
  // The job is gone; what it has at a lane goes on there.
  void Forget(JobId job);

  // Evaluations that the lane has.
  size_t Load(int lane) const;
  bool Has(JobId job) const;
  // When the lane gave its last answer, or since when it is busy. Only of a lane that is busy.
  TimePoint moved(int lane) const { return moved_.at(lane); }

  // Whose turn it is at a lane: the first job with something ready after the one that was served
  // last. Null: none has.
  WorkerJob* Next(int lane, std::map<JobId, WorkerJob>& jobs) const;

 private:
  std::map<uint64_t, OpenEvaluation> open_;
  std::map<int, JobId> last_started_;
  std::map<int, TimePoint> moved_;
};

}  // namespace warpsmith
