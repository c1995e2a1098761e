// The way of accepted trajectories to the learner, as a seam: Redis streams (redis_queue.h) or
// memory (memory_queue.h). It is transport, not truth: it may be wiped at any time, and the
// coordinator publishes again. One thread owns a queue object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace warpsmith {

struct QueuedTrajectory {
  std::string entry;  // the queue's own id, for Acknowledge
  uint64_t publish_seq =
      0;                // dense in its stream, from 0 (so a Redis id cannot be the bare number)
  std::string payload;  // an encoded Trajectory; empty where the queue lost it
};

class TrajectoryQueue {
 public:
  virtual ~TrajectoryQueue() = default;

  // kUnavailable: the server is away; kExhausted: it is full. Both: keep it and try again.
  virtual Status Ping() = 0;

  // Appends in the order given; a publish_seq that the stream already holds, or has acknowledged,
  // is skipped, so that publishing again is harmless.
  virtual Status Publish(const std::string& stream, const std::vector<QueuedTrajectory>& batch) = 0;

  // One above the newest publish_seq that the stream holds or has held; 0 when it knows none. Less
  // than what was published says that the server lost some (wiped, restored from an older copy, a
  // key evicted, entries trimmed by somebody else): everything not yet consumed has to be published
  // again.
  virtual Result<uint64_t> End(const std::string& stream) = 0;

  // Forgets entries with publish_seq < below. Never by length.
  virtual Status Trim(const std::string& stream, uint64_t below) = 0;

  // Up to `limit` entries that this consumer has not been given, in order, waiting up to `wait` for
  // the first. Makes the group where it is missing. A new consumer object is given unacknowledged
  // entries again.
  virtual Result<std::vector<QueuedTrajectory>> Read(const std::string& stream, size_t limit,
                                                     Duration wait) = 0;

  // Entries whose trajectories a durable checkpoint holds.
  virtual Status Acknowledge(const std::string& stream,
                             const std::vector<std::string>& entries) = 0;

  // The run has ended.
  virtual Status Drop(const std::string& stream) = 0;
};

}  // namespace warpsmith
