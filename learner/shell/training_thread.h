// The one thread that trains, so that the loop keeps speaking meanwhile. Work runs in the order
// given; what has not begun when this object goes is dropped.
#pragma once

#include <functional>
#include <thread>

#include "common/runtime/bounded_queue.h"

namespace warpsmith {

class TrainingThread {
 public:
  TrainingThread();
  ~TrainingThread();
  void Run(std::function<void()> work);

 private:
  BoundedQueue<std::function<void()>> work_{1000};  // at most two a run are ever waiting
  std::jthread thread_;
};

}  // namespace warpsmith
