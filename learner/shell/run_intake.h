// A run's trajectories on their way from the queue into batches, and the acknowledgements back once
// a durable checkpoint has passed them. Thread-compatible.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/queue/trajectory_queue.h"
#include "learner/core/batches.h"
#include "schema/learner.h"

namespace warpsmith {

class RunIntake {
 public:
  RunIntake(const TrainRun& order, const TrainingWatermark& consumed, TrainedLine line);

  // Takes what the queue has now, at most `limit`. Gives how many came.
  Result<size_t> Read(TrajectoryQueue& queue, size_t limit);

  // Everything the run will ever publish lies below `end`.
  void Close(uint64_t end) { end_ = end; }

  // The next batch; at the end, when all is here, the rest. Not called again before Durable.
  std::optional<Batch> Cut();
  // The batch that was cut last is in a durable checkpoint of this version.
  void Durable(PolicyVersion version);

  // Tells the queue what is durable. On error nothing is forgotten.
  Status Acknowledge(TrajectoryQueue& queue);

  // Closed, and everything is in durable checkpoints.
  bool complete() const;
  // Closed, but some have not come yet.
  bool waits_for_the_end() const { return end_ && !batches_.HasAllBelow(*end_); }
  TrainingWatermark watermark() const { return batches_.watermark(); }
  const TrainedLine& line() const { return line_; }
  const std::string& stream() const { return stream_; }

 private:
  std::string stream_;
  Batches batches_;
  TrainedLine line_;
  std::optional<uint64_t> end_;
  std::map<uint64_t, std::vector<std::string>> entries_;  // of what is not consumed yet
  std::optional<std::vector<ConsumedTrajectory>> cut_;    // on its way into a checkpoint
  std::vector<std::string> durable_;                      // to be acknowledged
};

}  // namespace warpsmith
