// Rewards: pure, versioned functions of a stored outcome: any trajectory can be scored again.
#pragma once

#include "common/model/outcome.h"
#include "common/model/trajectory.h"

namespace warpsmith {

// Changes whenever a formula below changes.
constexpr int kRewardVersion = 1;

// The outcome must not be infrastructure: that is never a reward.
double Reward(RewardKind kind, const Outcome& outcome);

// Whether there is anything to learn from: some turn did not end in infrastructure.
bool AnyTurnRewarded(const Trajectory& trajectory);

}  // namespace warpsmith
