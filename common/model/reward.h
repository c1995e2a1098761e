// Rewards: pure, versioned functions of a stored outcome: any trajectory can be scored again.
#pragma once

#include <optional>
#include <string_view>

#include "common/model/outcome.h"

namespace warpsmith {

enum class RewardKind {
  kMilestone,  // CUDA Agent: -1 not correct; 1 correct; 2 faster than eager; 3 also faster by > 5 %
               // than every measured compiler baseline
  kHybrid,     // not correct: -1 .. -0.5 by how far it came; correct: 1 + log2(speed-up) / 4, the
               // speed-up cut to [1/16, 16], so that slow kernels still feel a slope
  kSpeedup,    // 0 not correct; else the speed-up
};

const char* ToString(RewardKind kind);
std::optional<RewardKind> ParseRewardKind(std::string_view name);

// Changes whenever a formula below changes.
constexpr int kRewardVersion = 1;

// The outcome must not be infrastructure: that is never a reward.
double Reward(RewardKind kind, const Outcome& outcome);

}  // namespace warpsmith
