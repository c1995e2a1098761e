// The policy's process, warpsmith-policy: asked one thing at a time, started again when it dies.
// Its weights are the core's to load again.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "common/net/frame_socket.h"
#include "common/runtime/bounded_queue.h"
#include "common/runtime/subprocess.h"
#include "worker/core/worker_core.h"

namespace warpsmith {

class PolicyChild {
 public:
  struct Options {
    std::filesystem::path program;
    std::filesystem::path log_directory;                        // empty: this process's stderr
    Duration answer = std::chrono::minutes(5);                  // to one question; then it is hung
    Duration restart_backoff = std::chrono::milliseconds(200);  // doubles, up to ten seconds
  };

  // `tell` is called on this object's thread with PolicyReplied, or PolicyLost when a question will
  // not be answered; it must not block.
  PolicyChild(Options options, std::function<void(WorkerEvent)> tell);
  ~PolicyChild();

  // Thread-safe. Each question is answered by one event, in order.
  void Ask(ToPolicy question);
  int pid() const;

 private:
  void Run();
  Status EnsureStarted();
  Result<FromPolicy> Converse(const ToPolicy& question);
  void End();

  const Options options_;
  const std::function<void(WorkerEvent)> tell_;
  BoundedQueue<ToPolicy> questions_;
  int deaths_ = 0;  // in a row

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable stopped_;
  bool stopping_ = false;
  Subprocess child_;
  FrameSocket socket_;

  std::jthread thread_;
};

}  // namespace warpsmith
