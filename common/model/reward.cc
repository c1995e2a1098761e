#include "common/model/reward.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace warpsmith {
namespace {

double Milestone(const Outcome& outcome) {
  const auto* correct = std::get_if<Correct>(&outcome);
  if (!correct) return -1;
  const auto beats = [&](bool eager) {
    bool any = false;
    for (const auto& m : correct->measurements) {
      if ((m.baseline == "eager") != eager) continue;
      if (eager ? m.comparison != Comparison::kFaster : m.speedup_low <= 1.05) return false;
      any = true;
    }
    return any;
  };
  if (!beats(true)) return 1;
  const bool has_other = std::any_of(correct->measurements.begin(), correct->measurements.end(),
                                     [](const auto& m) { return m.baseline != "eager"; });
  // Without a measured compiler baseline the last milestone is out of reach.
  return has_other && beats(false) ? 3 : 2;
}

// How far a candidate came that is not correct: later stages are worth more, so that a policy that
// has never been correct still feels a slope. Every alternative stands here by its name, so that a
// new one does not become a reward before somebody has thought of it.
struct Partial {
  double operator()(const Rejected&) const { return -1; }
  double operator()(const Violation&) const { return -1; }
  double operator()(const CompileError&) const { return -0.9; }
  double operator()(const ResourceError&) const { return -0.8; }
  double operator()(const LaunchError&) const { return -0.8; }
  double operator()(const DeviceFault&) const { return -0.7; }
  double operator()(const Timeout&) const { return -0.7; }
  double operator()(const WrongOutput&) const { return -0.5; }  // it ran
  double operator()(const Nondeterministic&) const { return -0.5; }
  double operator()(const Correct&) const { return 0.5; }  // verified, not measured
  double operator()(const Infrastructure&) const { return 0; }
  double operator()(const Unrecognized&) const { return 0; }
};

double Hybrid(const Outcome& outcome) {
  const double speedup = SpeedupOf(outcome);
  if (speedup <= 0) return std::visit(Partial(), outcome);
  return 1 + std::log2(std::clamp(speedup, 1.0 / 16, 16.0)) / 4;
}

}  // namespace

double Reward(RewardKind kind, const Outcome& outcome) {
  CHECK(IsRewarded(outcome), "infrastructure and what is not known are never a reward");
  switch (kind) {
    case RewardKind::kMilestone: return Milestone(outcome);
    case RewardKind::kHybrid: return Hybrid(outcome);
    case RewardKind::kSpeedup: return SpeedupOf(outcome);
  }
  CHECK(false, "every reward kind has a formula");
}

bool AnyTurnRewarded(const Trajectory& trajectory) {
  return std::any_of(trajectory.turns.begin(), trajectory.turns.end(),
                     [](const Turn& turn) { return IsRewarded(turn.evaluation.outcome); });
}

}  // namespace warpsmith
