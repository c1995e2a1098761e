// Brings accepted trajectories to the learners' streams, from the store, in order. Redis may be
// away (backed off), full (kept, tried again), wiped or restored (noticed, published again): the
// store is the truth and publishing again is harmless.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "common/queue/trajectory_queue.h"
#include "common/runtime/bounded_queue.h"
#include "coordinator/core/event.h"
#include "coordinator/shell/job_store.h"

namespace warpsmith {

struct StreamPublisherOptions {
  Duration check = std::chrono::seconds(2);     // how often a stream is looked at for losses
  Duration stalled = std::chrono::seconds(15);  // without consumption everything is published again
  Duration backoff = std::chrono::milliseconds(100);  // after a failure; doubles ...
  Duration backoff_cap = std::chrono::seconds(5);     // ... up to this
  size_t batch = 64;                                  // trajectories a call
};

// Threads: Do from one thread; it never waits for Redis.
class StreamPublisher {
 public:
  // `health` is called from the publisher's thread when Redis goes away or comes back.
  StreamPublisher(std::unique_ptr<TrajectoryQueue> queue, std::unique_ptr<StreamReader> reader,
                  std::function<void(RedisHealth)> health, StreamPublisherOptions options = {});
  ~StreamPublisher();

  void Do(OpenStream effect) { commands_.Push(std::move(effect)); }
  void Do(ExtendStream effect) { commands_.Push(effect); }
  void Do(TrimStream effect) { commands_.Push(effect); }
  void Do(CloseStream effect) { commands_.Push(effect); }

 private:
  using Command = std::variant<OpenStream, ExtendStream, TrimStream, CloseStream>;
  using Time = std::chrono::steady_clock::time_point;
  struct Stream {
    std::string name;
    uint64_t base = 0;  // everything below is consumed
    uint64_t end = 0;   // everything below is stored
    uint64_t next = 0;  // everything below was published
    uint64_t trimmed = 0;
    Time checked{};
    Time moved{};  // when `base` or `end` last changed
  };

  void Loop();
  void Apply(OpenStream& command);
  void Apply(ExtendStream& command);
  void Apply(TrimStream& command);
  void Apply(CloseStream& command);
  Status Work();
  Status Serve(RunId run, Stream& stream);
  Duration NextWait() const;

  std::unique_ptr<TrajectoryQueue> queue_;
  std::unique_ptr<StreamReader> reader_;
  std::function<void(RedisHealth)> health_;
  const StreamPublisherOptions options_;
  BoundedQueue<Command> commands_{65536};

  // Of the thread.
  std::map<RunId, Stream> streams_;
  std::set<std::string> drops_;  // streams that nobody needs any more
  bool healthy_ = true;
  Duration backoff_{};
  Time retry_at_{};
  std::jthread thread_;
};

}  // namespace warpsmith
