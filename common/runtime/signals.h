// SIGINT and SIGTERM as something to look at or to wait for. Made once, in main, before any thread.
#pragma once

#include <functional>
#include <thread>

#include "common/base/unique_fd.h"

namespace warpsmith {

// While one exists, the first SIGINT or SIGTERM asks to stop and the next one ends the process at
// once. SIGPIPE is ignored. At most one object at a time. requested(), Request() and fd() are
// thread-safe.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool requested() const;
  void Request();                          // as if a signal had come
  int fd() const { return event_.get(); }  // readable once asked; never read it

  // Calls `on_stop` once from a thread of its own when asked to stop, at any time while this object
  // lives: what it refers to must live as long.
  void Watch(std::function<void()> on_stop);

 private:
  UniqueFd event_;
  UniqueFd end_;  // wakes the watching thread when this object goes
  std::jthread watcher_;
};

}  // namespace warpsmith
