#include "common/model/reward.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

Outcome CorrectAt(double speedup, Comparison comparison) {
  Measurement m;
  m.speedup = speedup;
  m.speedup_low = speedup * 0.99;
  m.comparison = comparison;
  return Correct{{m}, speedup};
}

TEST(Reward, InfrastructureIsNeverOne) {
  EXPECT_FALSE(IsRewarded(Outcome(Infrastructure{})));
  EXPECT_DEATH(Reward(RewardKind::kHybrid, Infrastructure{}), "never a reward");
}

TEST(Reward, ATrajectoryHasOneAsSoonAsOneTurnHas) {
  Trajectory trajectory;
  EXPECT_FALSE(AnyTurnRewarded(trajectory));
  trajectory.turns.resize(2);
  for (Turn& turn : trajectory.turns) turn.evaluation.outcome = Infrastructure{};
  EXPECT_FALSE(AnyTurnRewarded(trajectory));
  trajectory.turns[1].evaluation.outcome = WrongOutput{};
  EXPECT_TRUE(AnyTurnRewarded(trajectory));
}

TEST(Reward, MilestonesFollowCudaAgent) {
  EXPECT_EQ(Reward(RewardKind::kMilestone, WrongOutput{}), -1);
  EXPECT_EQ(Reward(RewardKind::kMilestone, CorrectAt(0.8, Comparison::kSlower)), 1);
  EXPECT_EQ(Reward(RewardKind::kMilestone, CorrectAt(1.0, Comparison::kTie)), 1);
  EXPECT_EQ(Reward(RewardKind::kMilestone, CorrectAt(1.2, Comparison::kFaster)), 2);

  auto both = std::get<Correct>(CorrectAt(1.5, Comparison::kFaster));
  both.measurements.push_back(both.measurements[0]);
  both.measurements[1].baseline = "compile";
  EXPECT_EQ(Reward(RewardKind::kMilestone, both), 3);
  both.measurements[1].speedup_low = 1.04;
  EXPECT_EQ(Reward(RewardKind::kMilestone, both), 2);
}

TEST(Reward, HybridOrdersFailuresByHowFarTheyCame) {
  const Outcome ladder[] = {Rejected{},
                            CompileError{},
                            ResourceError{},
                            DeviceFault{},
                            WrongOutput{},
                            CorrectAt(0.1, Comparison::kSlower),
                            CorrectAt(0.7, Comparison::kSlower),
                            CorrectAt(1, Comparison::kTie),
                            CorrectAt(2, Comparison::kFaster),
                            CorrectAt(4, Comparison::kFaster)};
  for (size_t i = 1; i < std::size(ladder); ++i)
    EXPECT_LT(Reward(RewardKind::kHybrid, ladder[i - 1]), Reward(RewardKind::kHybrid, ladder[i]))
        << OutcomeLabel(ladder[i]);
  EXPECT_DOUBLE_EQ(Reward(RewardKind::kHybrid, CorrectAt(2, Comparison::kFaster)), 1.25);
  EXPECT_DOUBLE_EQ(Reward(RewardKind::kHybrid, CorrectAt(64, Comparison::kFaster)), 2);
}

TEST(Outcome, DescribesItselfInOneLine) {
  WrongOutputReport report{.output = "y",
                           .reason = "value",
                           .wrong_elements = 3,
                           .elements = 12,
                           .first_index = {2, 1},
                           .expected = 0.5,
                           .got = -0.5,
                           .pattern = "last row"};
  EXPECT_EQ(Describe(WrongOutput{report}),
            "wrong_output: 3 of 12 elements of y are wrong (value); first at [2, 1]: expected 0.5, "
            "got -0.5; last row");
  EXPECT_EQ(OutcomeLabel(Timeout{Stage::kVerify}), "timeout(verify)");
  EXPECT_EQ(OutcomeLabel(Violation{ViolationKind::kInputModified, "x"}),
            "violation(input_modified)");
  EXPECT_EQ(Describe(CompileError{"line 3: no such name\nmore"}),
            "compile_error: line 3: no such name");
}

}  // namespace
}  // namespace warpsmith
