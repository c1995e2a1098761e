// The exclusive right to one device's time: an oracle child, its active runner and a warm spare.
// Orders are judged one after another, in the order given, on the lane's own thread, which owns the
// children.
//
//   stage limits  the oracle says when a runner's stage begins and how long it may take; past that
//                 the runner is killed, and the oracle calls the stage timed out
//   runners       are started while nothing is timed: before an order, or when the oracle waits
//   deaths        an oracle that dies or falls silent ends the order as infrastructure and is
//                 started again with a growing delay; several in a row quarantine the device
//   undead        a child that SIGKILL does not end may hold the device: it is not waited for, but
//                 the device stays in quarantine until it is gone
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/runtime/bounded_queue.h"
#include "schema/child.h"
#include "worker/shell/runner_child.h"

namespace warpsmith {

struct LaneOrder {
  Task task;
  std::shared_ptr<const CompiledCandidate> compiled;
  Depth depth = Depth::kScreen;
  std::function<void(EvaluateReply)> done;  // once, on the lane's thread; must not block
};

class Lane {
 public:
  // Begins to start the children; Ready waits for the oracle.
  explicit Lane(LaneOptions options);
  // Ends the children; what waits is done with Infrastructure(worker_lost).
  ~Lane();

  // The device's facts, or why the lane cannot work. Once.
  Result<DeviceFacts> Ready() { return ready_.get_future().get(); }
  void Submit(LaneOrder order) { queue_.Push(std::move(order)); }
  std::vector<int> ChildPids() const;

 private:
  void Run();
  EvaluateReply Judge(const LaneOrder& order);
  EvaluateReply Converse(const LaneOrder& order);

  Status StartOracle();
  Status EnsureOracle();
  // Gives the oracle a runner: the spare, or a fresh one.
  Status AttachRunner();
  void EnsureSpare();
  void EndOracle();
  // False: it would not die.
  bool KillRunner(std::optional<RunnerChild>& runner);
  void KeepUndead(Subprocess child, const std::string& why);
  // Why the device may not be used now; empty: it may.
  std::string HeldBack();
  // The oracle failed the lane: counts it, and quarantines the device when that is due.
  void Died(const std::string& why);
  void Quarantine(const std::string& why);
  // Waits, unless the lane is stopped. False: stopped.
  bool Sleep(Duration time);
  Status Send(const ToOracle& message, std::vector<int> fds = {});
  void Note(int* place, int pid);

  const LaneOptions options_;
  std::promise<Result<DeviceFacts>> ready_;
  BoundedQueue<LaneOrder> queue_;

  // Of the lane's thread.
  std::optional<Subprocess> oracle_;
  std::optional<RunnerChild> active_;
  std::optional<RunnerChild> spare_;
  uint64_t last_runner_ = 0;
  uint64_t last_id_ = 0;
  std::vector<Subprocess> undead_;
  int deaths_ = 0;  // in a row
  int quarantines_ = 0;
  TimePoint quarantined_until_{};
  std::string quarantine_why_;

  // Shared with the thread that destroys the lane.
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  FrameSocket socket_;  // to the oracle; replaced under the mutex
  int oracle_pid_ = -1, active_pid_ = -1, spare_pid_ = -1;

  std::jthread thread_;
};

}  // namespace warpsmith
