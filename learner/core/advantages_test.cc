#include "learner/core/advantages.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "common/model/run_check.h"

namespace warpsmith {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

Turn Rewarded(double reward) {
  Turn turn;
  turn.action = {.ids = {0}, .log_probs = {-0.5f}, .mask = {1}};
  turn.evaluation.outcome = Correct{};
  turn.reward = reward;
  return turn;
}

Turn Lost() {
  Turn turn = Rewarded(0);
  turn.evaluation.outcome = Infrastructure{};
  return turn;
}

Trajectory Episode(uint64_t group, std::vector<Turn> turns) {
  Trajectory trajectory;
  trajectory.id.group = GroupId(group);
  trajectory.turns = std::move(turns);
  return trajectory;
}

std::vector<std::vector<TurnCredit>> Estimate(const std::vector<Trajectory>& batch,
                                              std::string_view estimator = "trloo") {
  auto credit = EstimateAdvantages(estimator, batch);
  EXPECT_TRUE(credit) << credit.error().message;
  return credit.value_or(std::vector<std::vector<TurnCredit>>{});
}

TEST(Trainable, InfrastructureIsNeverLearnedFrom) {
  EXPECT_TRUE(IsTrainable(Rewarded(-1)));
  EXPECT_FALSE(IsTrainable(Lost()));
  EXPECT_FALSE(IsTrainable(Episode(0, {Lost(), Lost()})));
  EXPECT_TRUE(IsTrainable(Episode(0, {Lost(), Rewarded(0)})));
}

TEST(Trainable, NorAreRecordsThatMakeNoSense) {
  EXPECT_FALSE(IsTrainable(Rewarded(std::numeric_limits<double>::quiet_NaN())));
  Turn forced = Rewarded(1);
  forced.action.mask = {0};
  EXPECT_FALSE(IsTrainable(forced));
  Turn impossible = Rewarded(1);
  impossible.action.log_probs = {0.1f};
  EXPECT_FALSE(IsTrainable(impossible));
  Turn torn = Rewarded(1);
  torn.action.log_probs.clear();
  EXPECT_FALSE(IsTrainable(torn));
}

TEST(Trloo, HandNumbers) {
  // Means of the others: 3, 2.5, 2, 1.5... for 1, 2, 3, 4: 3, 8/3, 7/3, 2. Deviation sqrt(1.25).
  const auto credit = Estimate({Episode(1, {Rewarded(1)}), Episode(1, {Rewarded(2)}),
                                Episode(1, {Rewarded(3)}), Episode(1, {Rewarded(4)})});
  const double deviation = std::sqrt(1.25);
  EXPECT_NEAR(credit[0][0].advantage, (1 - 3) / deviation, 1e-12);
  EXPECT_NEAR(credit[1][0].advantage, (2 - 8.0 / 3) / deviation, 1e-12);
  EXPECT_NEAR(credit[3][0].advantage, (4 - 2) / deviation, 1e-12);
}

TEST(Trloo, ALoneDifferentRewardStaysOfOrderOne) {
  // By E[x^2] - E[x]^2 in float32 the residue passes a `> 0` guard and the advantage is 4000.
  std::vector<Trajectory> batch(7, Episode(1, {Rewarded(0.35)}));
  batch.push_back(Episode(1, {Rewarded(0.95)}));
  const auto credit = Estimate(batch);
  EXPECT_GT(credit[7][0].advantage, 1);
  EXPECT_LT(credit[7][0].advantage, 4);
  EXPECT_LT(credit[0][0].advantage, 0);
  EXPECT_GT(credit[0][0].advantage, -1);
}

TEST(Trloo, EqualRewardsTeachNothing) {
  const auto credit = Estimate(std::vector<Trajectory>(8, Episode(1, {Rewarded(0.1)})));
  EXPECT_NEAR(credit[3][0].advantage, 0, 1e-9);
  EXPECT_TRUE(credit[3][0].trainable);
}

TEST(Trloo, ComparesTurnsWithTheSameTurnOfTheSameGroupOnly) {
  const auto credit =
      Estimate({Episode(1, {Rewarded(0), Rewarded(10)}), Episode(1, {Rewarded(2), Rewarded(10)}),
                Episode(2, {Rewarded(100), Rewarded(7)})});
  EXPECT_NEAR(credit[0][0].advantage, -2, 1e-12);  // deviation 1
  EXPECT_NEAR(credit[1][0].advantage, 2, 1e-12);
  EXPECT_NEAR(credit[0][1].advantage, 0, 1e-12);
  EXPECT_FALSE(credit[2][0].trainable);  // alone in its group
}

TEST(Trloo, LeavesInfrastructureOutOfTheMean) {
  const auto credit = Estimate(
      {Episode(1, {Rewarded(1)}), Episode(1, {Rewarded(3)}), Episode(1, {Lost()}), Episode(1, {})});
  EXPECT_NEAR(credit[0][0].advantage, -2, 1e-12);
  EXPECT_FALSE(credit[2][0].trainable);
}

TEST(TrlooToGo, SumsLaterRewardsAndSkipsLostTurns) {
  const auto credit = Estimate({Episode(1, {Rewarded(0), Lost(), Rewarded(4)}),
                                Episode(1, {Rewarded(2), Rewarded(1), Rewarded(1)})},
                               "trloo_to_go");
  EXPECT_NEAR(credit[0][0].advantage, 0, 1e-9);  // 4 against 4
  EXPECT_FALSE(credit[0][1].trainable);
  EXPECT_FALSE(credit[1][1].trainable);  // its only peer was lost
  EXPECT_NEAR(credit[0][2].advantage, 2, 1e-12);
}

TEST(Estimators, AreThoseThatARunMayAskFor) {
  EXPECT_THAT(EstimatorNames(), ElementsAreArray(AdvantageNames()));
}

TEST(Estimators, AnUnknownNameIsRefusedWithTheList) {
  const auto credit = EstimateAdvantages("gae", {});
  ASSERT_FALSE(credit);
  EXPECT_THAT(credit.error().message, HasSubstr("trloo"));
}

}  // namespace
}  // namespace warpsmith
