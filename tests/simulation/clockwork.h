// Simulated time: everything that will happen, in order. One thread; the same schedule gives the
// same order, ties by who came first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/clock.h"

namespace warpsmith::sim {

class Clockwork {
 public:
  TimePoint now() const { return now_; }
  void At(TimePoint when, std::function<void()> what) {
    schedule_.emplace(std::pair(std::max(when, now_), ++order_), std::move(what));
  }
  void After(Duration delay, std::function<void()> what) { At(now_ + delay, std::move(what)); }
  // False: nothing will ever happen again.
  bool Next() {
    if (schedule_.empty()) return false;
    auto first = schedule_.extract(schedule_.begin());
    now_ = first.key().first;
    first.mapped()();
    return true;
  }

 private:
  TimePoint now_{};
  uint64_t order_ = 0;
  std::map<std::pair<TimePoint, uint64_t>, std::function<void()>> schedule_;
};

// Calls `ring` when a moving deadline has come. Tell it the deadline after every change.
class Alarm {
 public:
  Alarm(Clockwork& clockwork, std::function<void()> ring)
      : clockwork_(clockwork), ring_(std::move(ring)) {}
  void Set(std::optional<TimePoint> deadline) {
    if (!deadline) return;
    // Not sooner than the clock can move, so that a deadline in the past cannot stop time.
    const TimePoint when = std::max(*deadline, clockwork_.now() + std::chrono::milliseconds(1));
    if (armed_ && *armed_ <= when) return;
    armed_ = when;
    clockwork_.At(when, [this, when, alive = std::weak_ptr<int>(alive_)] {
      if (alive.expired() || armed_ != when) return;
      armed_.reset();
      ring_();
    });
  }

 private:
  Clockwork& clockwork_;
  std::function<void()> ring_;
  std::optional<TimePoint> armed_;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace warpsmith::sim
