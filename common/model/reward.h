// Rewards: pure, versioned functions of a stored outcome: any trajectory can be scored again.
#pragma once

#include "common/model/outcome.h"

namespace warpsmith {

// Changes whenever a formula below changes.
constexpr int kRewardVersion = 1;

// The outcome must not be infrastructure: that is never a reward.
double Reward(RewardKind kind, const Outcome& outcome);

}  // namespace warpsmith
