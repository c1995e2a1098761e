// Finished results that the coordinator has not acknowledged: kept whatever happens to their job,
// sent again with growing delays. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "schema/worker.h"

namespace warpsmith {

// What a result is known by, whatever attempt made it.
using ResultKey = std::variant<TrajectoryId, std::pair<JobId, uint32_t>>;

class ResultSpool {
 public:
  ResultSpool(Duration resend_after, size_t burst) : resend_after_(resend_after), burst_(burst) {}

  size_t size() const { return entries_.size(); }
  bool Holds(const ResultKey& key) const { return entries_.contains(key); }
  // Whether it holds the evaluation's result, and that is a verdict. One that ended in
  // infrastructure is dropped: it is being tried again.
  bool HoldsVerdict(const ResultKey& evaluation);
  // Results of this job that still wait.
  size_t Of(JobId job) const;

  // Keeps it; due at once. A second result of the same key is dropped: the first one wins.
  void Add(TimePoint now, ResultKey key, WorkerMessage message);
  // False: it was not here.
  bool Acknowledge(const ResultKey& key);
  // The job goes on under another fence, and its results with it.
  void Refence(JobId job, const Fence& fence);
  // Everything is due again, in bursts.
  void SendAllAgain(TimePoint now);

  // Those due, up to a burst; each is due again after a delay that doubles up to eight times.
  std::vector<WorkerMessage> Due(TimePoint now);
  std::optional<TimePoint> NextDue() const;

 private:
  struct Entry {
    JobId job;
    WorkerMessage message;
    TimePoint due;
    Duration delay;
  };
  Duration resend_after_;
  size_t burst_;
  std::map<ResultKey, Entry> entries_;
  TimePoint next_due_ = TimePoint::max();  // never later than the earliest entry's
};

}  // namespace warpsmith
