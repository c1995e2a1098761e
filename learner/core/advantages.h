// How much better a turn was than its peers: what a policy gradient multiplies log-probabilities
// with. Pure.
//
// Estimators, by the name in a run's `algorithm.advantage`. For turn t of episode i in a group of
// episodes on one task, with return g and the N episodes whose turn t is trainable:
//
//   trloo         g = the turn's own reward.
//   trloo_to_go   g = the sum of rewards of this turn and later ones; infrastructure turns add
//                 nothing.
//
//   advantage = (g_i - mean of the others' g) / max(s, 1e-3),   s = standard deviation of all N
//             = N / (N - 1) * (g_i - mean of all g) / max(s, 1e-3)
//
// Leaving one out keeps the baseline independent of the action it judges: Kool, van Hoof, Welling,
// "Buy 4 REINFORCE samples, get a baseline for free!", 2019; turn by turn: Liu et al., "Dr.
// Kernel", 2026. `trloo` takes a turn's own reward, because an earlier candidate reaches a later
// reward only through what the policy saw; the sum's variance costs more than that credit is worth
// at a few turns. s has two passes over float64 and a floor: a variance by E[x^2] - E[x]^2 leaves a
// residue that makes the advantage of equal rewards huge. A turn whose N < 2 has no peers and no
// advantage.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/trajectory.h"

namespace warpsmith {

constexpr double kStandardDeviationFloor = 1e-3;

// Whether a turn can be learned from: rewarded (not infrastructure), a finite reward, and at least
// one id of the policy's own choice with a finite log-probability.
bool IsTrainable(const Turn& turn);
// Whether any turn is.
bool IsTrainable(const Trajectory& trajectory);

struct TurnCredit {
  bool trainable = false;  // false: leave the turn out
  double advantage = 0;
};

// One entry a trajectory, one a turn, in the order given. Trajectories of one TrajectoryId::group
// are a group. kInvalidInput: no estimator has this name.
Result<std::vector<std::vector<TurnCredit>>> EstimateAdvantages(std::string_view estimator,
                                                                std::span<const Trajectory> batch);

// The names that `algorithm.advantage` may have.
std::vector<std::string_view> EstimatorNames();

}  // namespace warpsmith
