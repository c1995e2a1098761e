// How the worker stands with its coordinator: registering, registered, or fenced after a lease time
// without a word. Knows when something is due, and sends nothing itself. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/clock.h"
#include "schema/worker.h"

namespace warpsmith {

class CoordinatorLink {
 public:
  // `retry`: the first delay between two registrations; doubles up to sixteen times.
  explicit CoordinatorLink(Duration retry) : retry_(retry) {}

  bool registered() const { return state_ == State::kRegistered; }
  uint64_t epoch() const { return epoch_; }
  Duration lease() const { return lease_; }

  // A registration goes out at once, and another each time that RegisterDue says so.
  void BeginRegistering();
  void RegistrationSent(TimePoint now);
  bool RegisterDue(TimePoint now) const;
  // True: it was not registered before.
  bool Welcomed(TimePoint now, const WelcomeWorker& welcome);

  // A message of any kind came.
  void Heard(TimePoint now) { last_heard_ = now; }
  // No word for a lease time, where that matters: what the worker holds may be others' by now.
  bool Fenced(TimePoint now, bool holds_jobs) const;
  // True: send one now; the next is due later.
  bool TakeHeartbeat(TimePoint now);

  std::optional<TimePoint> NextDeadline(bool holds_jobs) const;

 private:
  enum class State { kDown, kRegistering, kRegistered };

  Duration retry_;
  State state_ = State::kDown;
  TimePoint register_at_{};
  Duration register_delay_{};
  TimePoint heartbeat_at_{};
  TimePoint last_heard_{};
  uint64_t epoch_ = 0;
  Duration heartbeat_{};  // between two of them
  Duration lease_{};      // 0: not welcomed yet
};

}  // namespace warpsmith
