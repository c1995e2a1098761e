// What time is on the host's lane. Where the lane is one core, candidate and baseline each are one
// thread's work, and a run's time is the CPU time that the kernel charged for it: what other
// processes take of the core in between does not count. Where threads share the work, CPU time says
// nothing about how well they share it, and time is the wall clock's. docs/decisions/host-timing.md
// says what was measured.
#pragma once

#include <sys/types.h>
#include <time.h>

namespace warpsmith {

class LaneClock {
 public:
  // Of this process.
  explicit LaneClock(int cores);
  // Of another, which this one started. Reading its clock takes no part of its own.
  LaneClock(int cores, pid_t process);

  // Microseconds since some moment. 0 once the process is gone.
  double Now() const;

 private:
  clockid_t clock_;
};

}  // namespace warpsmith
