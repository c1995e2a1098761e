#include "coordinator/core/learner.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace warpsmith {

void LearnerSession::Restore(const std::vector<LearnerRegistered>& learners) {
  for (const LearnerRegistered& learner : learners) {
    incarnations_[learner.peer] = learner.incarnation;
    last_incarnation_ = std::max(last_incarnation_, learner.incarnation);
    if (!learner.took_over || learner.incarnation <= incarnation_) continue;
    incarnation_ = learner.incarnation;
    peer_ = learner.peer;
  }
}

LearnerSession::Standing LearnerSession::StandingOf(const std::string& peer) const {
  const auto found = incarnations_.find(peer);
  if (found == incarnations_.end()) return Standing::kUnknown;
  if (found->second > incarnation_) return Standing::kPending;
  return found->second == incarnation_ ? Standing::kCurrent : Standing::kReplaced;
}

LearnerRegistered LearnerSession::Admit(const std::string& peer) {
  CHECK(StandingOf(peer) == Standing::kUnknown, "a process gets one incarnation");
  incarnations_[peer] = ++last_incarnation_;
  return {last_incarnation_, peer, false};
}

void LearnerSession::Remember(const std::string& peer, RegisterLearner registration) {
  pending_[peer] = std::move(registration);
}

RegisterLearner LearnerSession::TakeOver(const std::string& peer, TimePoint now) {
  CHECK(StandingOf(peer) == Standing::kPending, "only a newer process takes over");
  RegisterLearner registration = std::move(pending_.at(peer));
  peer_ = peer;
  incarnation_ = incarnations_.at(peer);
  talks_.clear();
  // Older ones that have not spoken never will count.
  std::erase_if(pending_,
                [&](const auto& entry) { return incarnations_.at(entry.first) <= incarnation_; });
  Readmit(now);
  return registration;
}

void LearnerSession::Readmit(TimePoint now) {
  registered_ = true;
  heard_ = now;
  // It may have missed what it was told; what it said stays true.
  for (auto& [run, talk] : talks_) {
    talk.confirmed = false;
    talk.told.reset();
  }
}

const LearnerSession::RunTalk* LearnerSession::FindTalk(RunId run) const {
  const auto found = talks_.find(run);
  return found == talks_.end() ? nullptr : &found->second;
}

}  // namespace warpsmith
