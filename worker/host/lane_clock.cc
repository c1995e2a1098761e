#include "worker/host/lane_clock.h"

namespace warpsmith {

LaneClock::LaneClock(int cores) : clock_(cores == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC) {}

LaneClock::LaneClock(int cores, pid_t process) : LaneClock(cores) {
  if (cores != 1) return;
  clockid_t clock;
  if (clock_getcpuclockid(process, &clock) == 0) clock_ = clock;
}

double LaneClock::Now() const {
  timespec now{};
  clock_gettime(clock_, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace warpsmith
