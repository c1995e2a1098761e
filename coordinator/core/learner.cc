#include "coordinator/core/learner.h"

#include "common/base/check.h"

namespace warpsmith {

void LearnerSession::Restore(const std::vector<LearnerRegistered>& learners) {
  for (const LearnerRegistered& learner : learners) {
    incarnations_[learner.peer] = learner.incarnation;
    if (learner.incarnation <= incarnation_) continue;
    incarnation_ = learner.incarnation;
    peer_ = learner.peer;
  }
}

LearnerSession::Standing LearnerSession::StandingOf(const std::string& peer) const {
  const auto found = incarnations_.find(peer);
  if (found == incarnations_.end()) return Standing::kUnknown;
  return found->second == incarnation_ ? Standing::kCurrent : Standing::kReplaced;
}

LearnerRegistered LearnerSession::Admit(const std::string& peer, TimePoint now) {
  CHECK(StandingOf(peer) == Standing::kUnknown, "a process gets one incarnation");
  peer_ = peer;
  incarnations_[peer] = ++incarnation_;
  talks_.clear();
  Readmit(now);
  return {incarnation_, peer};
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
