#include "worker/core/coordinator_link.h"

#include <algorithm>

namespace warpsmith {
namespace {

constexpr int kMaxRegisterDelayFactor = 16;
// Whatever the coordinator asks for.
constexpr Duration kLeastHeartbeat = std::chrono::milliseconds(5);

}  // namespace

void CoordinatorLink::BeginRegistering() {
  state_ = State::kRegistering;
  register_delay_ = retry_;
}

void CoordinatorLink::RegistrationSent(TimePoint now) {
  register_at_ = now + register_delay_;
  register_delay_ = std::min(register_delay_ * 2, retry_ * kMaxRegisterDelayFactor);
}

bool CoordinatorLink::RegisterDue(TimePoint now) const {
  return state_ == State::kRegistering && now >= register_at_;
}

bool CoordinatorLink::Welcomed(TimePoint now, const WelcomeWorker& welcome) {
  const bool was_registering = state_ == State::kRegistering;
  state_ = State::kRegistered;
  epoch_ = welcome.epoch;
  lease_ = welcome.lease;
  heartbeat_ = std::max<Duration>(welcome.heartbeat / 2, kLeastHeartbeat);
  heartbeat_at_ = now + heartbeat_;
  return was_registering;
}

bool CoordinatorLink::Fenced(TimePoint now, bool holds_jobs) const {
  return lease_ > Duration::zero() && now - last_heard_ >= lease_ && (registered() || holds_jobs);
}

bool CoordinatorLink::TakeHeartbeat(TimePoint now) {
  if (!registered() || now < heartbeat_at_) return false;
  heartbeat_at_ = now + heartbeat_;
  return true;
}

std::optional<TimePoint> CoordinatorLink::NextDeadline(bool holds_jobs) const {
  std::optional<TimePoint> next;
  const auto due = [&](TimePoint when) { next = next ? std::min(*next, when) : when; };
  if (state_ == State::kRegistering) due(register_at_);
  if (registered()) due(heartbeat_at_);
  if (lease_ > Duration::zero() && (registered() || holds_jobs)) due(last_heard_ + lease_);
  return next;
}

}  // namespace warpsmith
