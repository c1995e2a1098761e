// Time as the cores see it: an argument, on a steady clock that tests move by hand.
#pragma once

#include <chrono>
#include <cstdint>

namespace warpsmith {

using Duration = std::chrono::nanoseconds;
// Steady, since an arbitrary start; never written to disk or sent to another host.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Threads: Now() may be called from any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
};

class SystemClock : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
};

// Moves only when told to.
class ManualClock : public Clock {
 public:
  TimePoint Now() const override { return now_; }
  void Advance(Duration by) { now_ += by; }
  void Set(TimePoint now) { now_ = now; }

 private:
  TimePoint now_{};
};

// Milliseconds since the Unix epoch, for records and logs only.
int64_t WallClockMs();

}  // namespace warpsmith
