// A child process that is started again whenever it ends, with back-off, until it is stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "common/base/clock.h"
#include "common/runtime/subprocess.h"

namespace warpsmith {

// How long to wait before the next start: doubles from `first` to `cap`, and begins anew after a
// life of at least `healthy`, unless the child said that it cannot work here: a worker with a sick
// device may live long, and lose some jobs in each of its lives. Long enough that a child which
// dies at each start burns no core, short enough that one which was killed is not missed:
// everything waits for it. Pure.
class Backoff {
 public:
  Duration Next(Duration lived, bool cannot_work = false);

  static constexpr Duration kFirst = std::chrono::milliseconds(200);
  static constexpr Duration kCap = std::chrono::seconds(5);
  static constexpr Duration kHealthy = std::chrono::seconds(5);

 private:
  Duration next_ = kFirst;
};

struct KeptOptions {
  std::string name;                                // in notices: "worker-0"
  std::function<SubprocessOptions()> start;        // asked before each start
  Duration grace = std::chrono::seconds(5);        // between SIGTERM and SIGKILL at the end
  std::function<void(const std::string&)> notice;  // one line for people; thread-safe
  // It ended at its first start, at once and with a status that says it cannot work here (2, 3, 5,
  // or it could not be started): it is not started again. Thread-safe.
  std::function<void(int status, const std::string& why)> hopeless;
};

// What the log of a child that was given up tells, for the end of a message.
std::string EndOfLog(const std::filesystem::path& log, int status);

// Owns the child and a thread. The thread makes the child, so that the child dies with this
// process.
class Kept {
 public:
  explicit Kept(KeptOptions options);
  ~Kept() { Stop(); }
  Kept(const Kept&) = delete;

  // Begins to end the child; returns at once.
  void BeginStop() { thread_.request_stop(); }
  // Ends the child and waits for it.
  void Stop();

 private:
  void Run(std::stop_token stop);

  const KeptOptions options_;
  std::jthread thread_;
};

}  // namespace warpsmith
