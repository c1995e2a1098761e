#include "learner/shell/run_intake.h"

#include "common/base/check.h"
#include "common/runtime/log.h"
#include "common/wire/codec.h"

namespace warpsmith {

RunIntake::RunIntake(const TrainRun& order, const TrainingWatermark& consumed, TrainedLine line)
    : stream_(order.stream), batches_(order.spec.algorithm, consumed), line_(std::move(line)) {}

Result<size_t> RunIntake::Read(TrajectoryQueue& queue, size_t limit) {
  ASSIGN_OR_RETURN(std::vector<QueuedTrajectory> items, queue.Read(stream_, limit, {}));
  for (QueuedTrajectory& item : items) {
    if (item.payload.empty()) {
      // Only what is consumed is ever taken out of a stream.
      durable_.push_back(std::move(item.entry));
      continue;
    }
    auto trajectory = Decode<Trajectory>(item.payload);
    const bool sane = trajectory && !trajectory->turns.empty();
    if (!sane)
      LogError("trajectory_dropped",
               {{"stream", stream_},
                {"publish_seq", item.publish_seq},
                {"why", trajectory ? "it has no turns" : trajectory.error().message}});
    const bool fresh = sane ? batches_.Add(item.publish_seq, std::move(*trajectory))
                            : batches_.Drop(item.publish_seq);
    // Known already: published again. It is acknowledged with the first one.
    const bool waiting = fresh || entries_.contains(item.publish_seq);
    if (waiting) {
      entries_[item.publish_seq].push_back(std::move(item.entry));
    } else {
      durable_.push_back(std::move(item.entry));
    }
  }
  return items.size();
}

std::optional<Batch> RunIntake::Cut() {
  CHECK(!cut_, "one batch at a time");
  auto batch = batches_.Cut(line_);
  if (!batch && end_ && batches_.HasAllBelow(*end_)) batch = batches_.CutRest(line_);
  if (batch) cut_ = batch->consumed;
  return batch;
}

void RunIntake::Durable(PolicyVersion version) {
  CHECK(cut_, "a batch was cut");
  line_.Advance(version);
  for (const ConsumedTrajectory& consumed : *cut_) {
    auto entries = entries_.extract(consumed.publish_seq);
    if (entries.empty()) continue;
    for (std::string& entry : entries.mapped()) durable_.push_back(std::move(entry));
  }
  cut_.reset();
}

Status RunIntake::Acknowledge(TrajectoryQueue& queue) {
  if (durable_.empty()) return {};
  RETURN_IF_ERROR(queue.Acknowledge(stream_, durable_));
  durable_.clear();
  return {};
}

bool RunIntake::complete() const {
  return end_ && !cut_ && batches_.pending() == 0 && batches_.HasAllBelow(*end_);
}

}  // namespace warpsmith
