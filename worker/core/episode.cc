#include "worker/core/episode.h"

#include "common/base/check.h"
#include "common/base/random.h"

namespace warpsmith {

bool MeansDeviceGone(InfrastructureKind kind) {
  switch (kind) {
    case InfrastructureKind::kWorkerLost:
    case InfrastructureKind::kDeviceLost:
    case InfrastructureKind::kDeviceSick:
    case InfrastructureKind::kDriver:
    case InfrastructureKind::kDisk:
    case InfrastructureKind::kUnsupportedArchitecture: return true;
    case InfrastructureKind::kClocksUnverified:
    case InfrastructureKind::kTooNoisy:
    case InfrastructureKind::kOutOfMemory:
    case InfrastructureKind::kInternal: return false;
  }
  return true;
}

Episode EpisodeRun::Observe() const {
  return {.seed = MixSeed({job_seed_, number_, done_.size()}), .turns = done_};
}

void EpisodeRun::BeginAct() {
  CHECK(state_ == State::kWaiting, "only a waiting episode asks the policy");
  state_ = State::kActing;
}

void EpisodeRun::ActFailed() {
  CHECK(state_ == State::kActing, "no action was asked for");
  state_ = State::kWaiting;
}

void EpisodeRun::Acted(Action action) {
  CHECK(state_ == State::kActing, "no action was asked for");
  action_ = std::move(action);
  tries_ = 0;
  state_ = State::kEvaluating;
}

EpisodeRun::Next EpisodeRun::Evaluated(Evaluation evaluation) {
  CHECK(state_ == State::kEvaluating, "no evaluation was asked for");
  const auto* trouble = std::get_if<Infrastructure>(&evaluation.outcome);
  if (trouble) {
    if (++tries_ < 2) return Next::kTryAgain;
    if (MeansDeviceGone(trouble->kind)) return Next::kDeviceGone;
  }
  double reward = IsRewarded(evaluation.outcome) ? Reward(reward_, evaluation.outcome) : 0;
  done_.push_back({std::move(action_), std::move(evaluation), reward, kRewardVersion});
  action_ = {};
  bool over = trouble || static_cast<int>(done_.size()) >= turns_;
  state_ = over ? State::kEnded : State::kWaiting;
  return over ? Next::kEnded : Next::kTurn;
}

}  // namespace warpsmith
