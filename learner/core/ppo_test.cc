#include "learner/core/ppo.h"

#include <gtest/gtest.h>

#include <cmath>

namespace warpsmith {
namespace {

TEST(Ppo, ClipsARatioThatGrewByHandMadeNumbers) {
  const Algorithm algorithm{.clip_low = 0.2, .clip_high = 0.28};
  const PpoTerm good = Ppo(algorithm, -0.5, -1, -1, 1);
  EXPECT_NEAR(good.ratio, 1.6487, 1e-4);
  EXPECT_DOUBLE_EQ(good.weight, 1);
  EXPECT_DOUBLE_EQ(good.objective, 1.28);
  EXPECT_TRUE(good.clipped);
  EXPECT_EQ(good.slope, 0);

  // A worse than average id that became likelier is pushed back in full.
  const PpoTerm bad = Ppo(algorithm, -0.5, -1, -1, -1);
  EXPECT_NEAR(bad.objective, -1.6487, 1e-4);
  EXPECT_FALSE(bad.clipped);
  EXPECT_NEAR(bad.slope, -1.6487, 1e-4);

  EXPECT_DOUBLE_EQ(Ppo(algorithm, -2, -1, -1, -1).objective, -0.8);
  EXPECT_TRUE(Ppo(algorithm, -2, -1, -1, -1).clipped);
  EXPECT_NEAR(Ppo(algorithm, -2, -1, -1, 1).objective, std::exp(-1), 1e-12);
}

TEST(Ppo, TheClipIsTheRunsOwn) {
  const Algorithm algorithm{.clip_low = 0.2, .clip_high = 0.2};
  EXPECT_DOUBLE_EQ(Ppo(algorithm, -0.5, -1, -1, 2).objective, 2.4);
}

TEST(Ppo, UsesTheStoredLogProbabilityAndTruncatesItsWeight) {
  const Algorithm algorithm{.clip_high = 0.28, .importance_cap = 2};
  // Sampled by an older policy that found the id less likely: e^0.5, below the cap.
  const PpoTerm stale = Ppo(algorithm, -0.5, -0.5, -1, 1);
  EXPECT_DOUBLE_EQ(stale.ratio, 1);
  EXPECT_NEAR(stale.weight, 1.6487, 1e-4);
  EXPECT_NEAR(stale.slope, 1.6487, 1e-4);
  EXPECT_DOUBLE_EQ(Ppo(algorithm, -0.5, -0.5, -5, 1).weight, 2);
  EXPECT_NEAR(Ppo(algorithm, -3, -3, -1, 1).weight, std::exp(-2), 1e-12);
}

TEST(Ppo, SlopeIsTheDerivative) {
  const Algorithm algorithm;
  for (const double advantage : {-1.5, 0.7})
    for (const double now : {-3.0, -1.15, -1.0, -0.9, -0.1}) {
      const double h = 1e-6;
      const double numeric = (Ppo(algorithm, now + h, -1, -1.3, advantage).objective -
                              Ppo(algorithm, now - h, -1, -1.3, advantage).objective) /
                             (2 * h);
      EXPECT_NEAR(Ppo(algorithm, now, -1, -1.3, advantage).slope, numeric, 1e-6)
          << advantage << " " << now;
    }
}

TEST(KlSample, IsNeverNegative) {
  EXPECT_EQ(KlSample(-1, -1), 0);
  EXPECT_GT(KlSample(-0.5, -1), 0);
  EXPECT_GT(KlSample(-1.5, -1), 0);
}

}  // namespace
}  // namespace warpsmith
