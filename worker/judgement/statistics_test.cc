#include "worker/judgement/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using testing::DoubleNear;

double Normal(Random& random) {
  const double u = 1 - random.Uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.Uniform());
}

std::vector<double> Noisy(size_t n, double middle, double sigma, uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (size_t i = 0; i < n; ++i) values.push_back(middle + sigma * Normal(random));
  return values;
}

StopReason RunUntilStopped(HalfWidthCriterion& criterion, double sigma, size_t* blocks,
                           Duration per_block = milliseconds(1)) {
  const auto all = Noisy(1000, 0.1, sigma, 7);
  for (size_t n = 1; n <= all.size(); ++n) {
    const StopReason reason = criterion.Decide({std::span(all).first(n), n, n * per_block});
    *blocks = n;
    if (reason != StopReason::kGoOn) return reason;
  }
  return StopReason::kGoOn;
}

TEST(Interval, TwoSamplesAreKeptAndTheirNoiseIsUnknown) {
  Random random(1);
  const double samples[] = {0.3, 0.5};
  const Interval interval = BootstrapMedian(samples, 0.95, random);
  EXPECT_FALSE(interval.known);
  EXPECT_THAT(interval.middle, DoubleNear(0.4, 1e-12));
  EXPECT_EQ(interval.low, 0.3);
  EXPECT_EQ(interval.high, 0.5);
  EXPECT_EQ(Compare(interval, WilcoxonSignedRank(samples), AaNoise(samples, 2)), Comparison::kTie);
}

TEST(Interval, OneSampleIsNoEvidenceOfSpeed) {
  Random random(1);
  const double samples[] = {3.0};
  EXPECT_EQ(Compare(BootstrapMedian(samples, 0.95, random), 0.01, 0), Comparison::kTie);
}

TEST(Interval, CoversTheMedianAboutAsOftenAsItPromises) {
  Random random(3);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto samples = Noisy(15, 1.0, 0.2, 1000 + static_cast<uint64_t>(trial));
    const Interval interval = BootstrapMedian(samples, 0.95, random, 400);
    if (interval.low <= 1.0 && 1.0 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, kTrials * 90 / 100);
  EXPECT_LE(covered, kTrials * 995 / 1000);
}

TEST(Interval, IsTheSameForTheSameSeed) {
  const auto samples = Noisy(12, 0, 1, 5);
  Random one(9), two(9);
  EXPECT_EQ(BootstrapMedian(samples, 0.9, one).low, BootstrapMedian(samples, 0.9, two).low);
}

TEST(Wilcoxon, SmallSamplesAreExact) {
  // All of n positive: two patterns of 2^n are as extreme.
  EXPECT_THAT(WilcoxonSignedRank(std::vector<double>{1, 2, 3, 4, 5, 6}),
              DoubleNear(2.0 / 64, 1e-12));
  // Ranks 1 and 2 negative of five: W- = 3, five of 32 patterns have W- <= 3.
  EXPECT_THAT(WilcoxonSignedRank(std::vector<double>{-1, -2, 3, 4, 5}),
              DoubleNear(10.0 / 32, 1e-12));
  EXPECT_EQ(WilcoxonSignedRank(std::vector<double>{1, -1}), 1);
  EXPECT_EQ(WilcoxonSignedRank(std::vector<double>{0, 0, 0}), 1);
  EXPECT_EQ(WilcoxonSignedRank(std::vector<double>{}), 1);
}

TEST(Wilcoxon, LargeSamplesSeeAShiftAndNothingElse) {
  EXPECT_LT(WilcoxonSignedRank(Noisy(60, 0.5, 1, 11)), 0.01);
  EXPECT_GT(WilcoxonSignedRank(Noisy(60, 0.0, 1, 11)), 0.05);
}

TEST(Comparison, AGainWithinTheNoiseIsATieThatScoresOne) {
  const Interval narrow{.low = 0.02, .middle = 0.025, .high = 0.03, .known = true};
  EXPECT_EQ(Compare(narrow, 0.001, 0.001), Comparison::kFaster);
  EXPECT_EQ(Compare(narrow, 0.001, 0.01), Comparison::kTie) << "3 x 1 % of noise is more than 2 %";
  EXPECT_EQ(Compare(narrow, 0.2, 0.001), Comparison::kTie) << "the ranks do not agree";
  const Interval tiny{.low = 0.004, .middle = 0.006, .high = 0.008, .known = true};
  EXPECT_EQ(Compare(tiny, 0.001, 0), Comparison::kTie) << "never below 1 %";
  const Interval slow{.low = -0.3, .middle = -0.2, .high = -0.1, .known = true};
  EXPECT_EQ(Compare(slow, 0.001, 0.001), Comparison::kSlower);
  EXPECT_EQ(ScoredSpeedup(Comparison::kTie, 1.006), 1);
  EXPECT_EQ(ScoredSpeedup(Comparison::kSlower, 0.8), 0.8);
}

TEST(Comparison, TheSameKernelTwiceIsATieNineteenTimesInTwenty) {
  int decided = 0;
  for (uint64_t trial = 0; trial < 300; ++trial) {
    const auto a = Noisy(10, 100, 3, 2 * trial), b = Noisy(10, 100, 3, 2 * trial + 1);
    std::vector<double> ratios;
    for (size_t i = 0; i < a.size(); ++i) ratios.push_back(std::log(a[i] / b[i]));
    Random random(trial);
    const auto interval = BootstrapMedian(ratios, 0.95, random, 300);
    if (Compare(interval, WilcoxonSignedRank(ratios), AaNoise(a, a.size())) != Comparison::kTie)
      ++decided;
  }
  EXPECT_LE(decided, 15);
}

TEST(Noise, GrowsWithTheScatterAndShrinksWithTheBlocks) {
  const auto quiet = Noisy(40, 100, 0.5, 3), loud = Noisy(40, 100, 5, 3);
  EXPECT_GT(AaNoise(loud, 10), 5 * AaNoise(quiet, 10));
  EXPECT_THAT(AaNoise(quiet, 40), DoubleNear(AaNoise(quiet, 10) / 2, 1e-12));
  std::vector<double> drifting;
  for (int i = 0; i < 40; ++i) drifting.push_back(100 + 0.1 * i);
  EXPECT_LT(AaNoise(drifting, 10), 0.002) << "a slow drift is shared by both roles";
  EXPECT_EQ(AaNoise(std::vector<double>{1, 2}, 2), 0);
}

TEST(Blocks, AreVoidWhereTheBaselineWasDisturbed) {
  EXPECT_FALSE(BlockIsVoid(101.9, 100, 0.1, 0));
  EXPECT_TRUE(BlockIsVoid(102.1, 100, 0.1, 0));
  EXPECT_TRUE(BlockIsVoid(97.9, 100, 0.1, 0)) << "a baseline that is suddenly quick is as suspect";
  EXPECT_FALSE(BlockIsVoid(110, 100, 4, 0)) << "three sigma of its own noise";
  EXPECT_FALSE(BlockIsVoid(150, 100, 4, 60));
  EXPECT_TRUE(BlockIsVoid(180, 100, 4, 60));
}

TEST(Stopping, NeverReachesTheGoalAndStillEnds) {
  size_t blocks = 0;
  HalfWidthCriterion hopeless({.target_half_width = 0.005,
                               .min_blocks = 6,
                               .max_blocks = 40,
                               .budget = std::chrono::hours(1)},
                              1);
  EXPECT_EQ(RunUntilStopped(hopeless, 0.5, &blocks), StopReason::kHopeless);
  EXPECT_EQ(blocks, 12u);
  HalfWidthCriterion noisy({.target_half_width = 0.005,
                            .min_blocks = 6,
                            .max_blocks = 40,
                            .budget = std::chrono::hours(1)},
                           1);
  EXPECT_EQ(RunUntilStopped(noisy, 0.015, &blocks), StopReason::kMaxBlocks);
  EXPECT_EQ(blocks, 40u);
  HalfWidthCriterion late(
      {.target_half_width = 0.005, .min_blocks = 6, .max_blocks = 40, .budget = milliseconds(10)},
      1);
  EXPECT_EQ(RunUntilStopped(late, 0.015, &blocks), StopReason::kBudget);
  EXPECT_EQ(blocks, 10u);
}

TEST(Stopping, ASlowMachineGetsTimeForTheLeastBlocksAndNoMore) {
  HalfWidthCriterion criterion({.min_blocks = 6, .max_blocks = 40, .budget = milliseconds(10)}, 1);
  const std::vector<double> five(5, 0.1), six{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(criterion.Decide({five, 5, milliseconds(30)}), StopReason::kGoOn);
  EXPECT_EQ(criterion.Decide({five, 5, milliseconds(40)}), StopReason::kBudget);
  EXPECT_EQ(criterion.Decide({six, 6, milliseconds(30)}), StopReason::kBudget);
}

TEST(Stopping, VoidBlocksCannotHoldAMeasurementForEver) {
  HalfWidthCriterion criterion({.max_blocks = 10, .budget = std::chrono::hours(1)}, 1);
  EXPECT_EQ(criterion.Decide({{}, 9, milliseconds(9)}), StopReason::kGoOn);
  EXPECT_EQ(criterion.Decide({{}, 10, milliseconds(10)}), StopReason::kMaxBlocks);
}

TEST(Stopping, ATimingThatIsQuietEndsAtTheFirstLook) {
  size_t blocks = 0;
  HalfWidthCriterion criterion({.target_half_width = 0.02, .min_blocks = 8, .max_blocks = 40}, 1);
  EXPECT_EQ(RunUntilStopped(criterion, 0.002, &blocks), StopReason::kPrecise);
  EXPECT_EQ(blocks, 8u);
  EXPECT_GT(criterion.confidence(), 0.95) << "several looks share the 5 %";
}

TEST(Stopping, ASlowCandidateNeedsNoPrecision) {
  size_t blocks = 0;
  const StoppingOptions options{
      .target_half_width = 0.005, .clearly_slower = 0.5, .min_blocks = 6, .max_blocks = 11};
  HalfWidthCriterion close(options, 1);
  EXPECT_EQ(RunUntilStopped(close, 0.015, &blocks), StopReason::kMaxBlocks);
  HalfWidthCriterion slow(options, 1);
  std::vector<double> ratios = Noisy(6, -2, 0.1, 3);
  EXPECT_EQ(slow.Decide({ratios, 6, milliseconds(6)}), StopReason::kClear);
  HalfWidthCriterion doubtful(options, 1);
  ratios[0] = ratios[1] = ratios[2] = -0.1;
  EXPECT_NE(doubtful.Decide({ratios, 6, milliseconds(6)}), StopReason::kClear);
}

TEST(Stopping, MinimumOfTwoSamplesDoesNoHarm) {
  size_t blocks = 0;
  HalfWidthCriterion criterion({.target_half_width = 0.001, .min_blocks = 2, .max_blocks = 2}, 1);
  EXPECT_EQ(RunUntilStopped(criterion, 0.01, &blocks), StopReason::kMaxBlocks);
  EXPECT_EQ(blocks, 2u);
}

TEST(Validity, SaysWhatDisturbedTheMeasurement) {
  const auto quiet = Noisy(10, 100, 1, 1), loud = Noisy(10, 100, 30, 2);
  const double steady[] = {1980, 1975, 1980}, falling[] = {1980, 1700, 1500}, unseen[] = {0, 0};
  const NoiseRule strict;
  const NoiseRule lenient{.most_spread = 0.5, .most_noise = 0.15, .decided_excuses_noise = true};
  ValidityEvidence evidence{.candidate_us = quiet, .baseline_us = quiet, .clocks_mhz = steady};
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kValid);
  evidence.candidate_us = loud;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kNoisy);
  evidence.candidate_us = quiet;
  evidence.void_blocks = 11;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kNoisy);
  evidence.void_blocks = 0;
  evidence.noise = 0.04;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kNoisy);
  evidence.decided = true;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kNoisy);
  evidence.noise = 0.3;
  EXPECT_EQ(JudgeValidity(evidence, lenient), Validity::kValid) << "far apart for all the noise";
  evidence.decided = false;
  EXPECT_EQ(JudgeValidity(evidence, lenient), Validity::kNoisy);
  evidence.noise = 0.02;
  evidence.clocks_mhz = falling;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kThrottled);
  evidence.clocks_mhz = unseen;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kValid) << "mode observed needs no clock";
  evidence.mode = ClockMode::kLocked;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kClocksUnverified);
  evidence.candidate_us = {};
  evidence.mode = ClockMode::kObserved;
  EXPECT_EQ(JudgeValidity(evidence, strict), Validity::kNoisy) << "no samples are no number";
}

TEST(Uneven, TheFirstLaunchDoesTheWorkOfAll) {
  const std::vector<std::vector<double>> even(6, {100, 101, 99, 100});
  const std::vector<std::vector<double>> shifted(6, {400, 20, 21, 20});
  const std::vector<std::vector<double>> hoarding(6, {20, 100, 101, 99});
  const UnevenRule rule;
  EXPECT_EQ(UnevenPosition(shifted, even, rule), 0u);
  EXPECT_EQ(UnevenPosition(hoarding, even, rule), 0u);
  EXPECT_EQ(UnevenPosition(std::vector<std::vector<double>>(6, {20, 21, 400, 20}), even, rule), 2u);
  EXPECT_EQ(UnevenPosition(even, even, rule), std::nullopt);
  EXPECT_EQ(UnevenPosition(shifted, shifted, rule), std::nullopt) << "the machine is so, for both";
  EXPECT_EQ(UnevenPosition(std::span(shifted).first(3), even, rule), std::nullopt)
      << "not often enough to tell";
  EXPECT_EQ(
      UnevenPosition(std::vector<std::vector<double>>(6, {4, 1, 1, 1}), even, {.resolution_us = 5}),
      std::nullopt)
      << "within what the clock can tell";
  auto once = even;
  once[2] = {900, 20, 20, 20};
  EXPECT_EQ(UnevenPosition(once, even, rule), std::nullopt) << "one block is an accident";
  auto mostly = shifted;
  mostly[3] = {100, 101, 99, 100};
  EXPECT_EQ(UnevenPosition(mostly, even, rule), 0u) << "an even block in between clears nobody";
  EXPECT_EQ(UnevenPosition({}, {}, rule), std::nullopt);
}

TEST(Summaries, AreWhatTheirNamesSay) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_THAT(GeometricMean(std::vector<double>{2, 8}), DoubleNear(4, 1e-12));
  EXPECT_EQ(RobustSigma(std::vector<double>{1, 1, 1, 100}), 0);
}

TEST(Order, EachRoleLeadsAboutHalfTheBlocks) {
  Random random(4);
  int leads = 0;
  for (int i = 0; i < 1000; ++i) leads += CandidateLeads(random) ? 1 : 0;
  EXPECT_GT(leads, 430);
  EXPECT_LT(leads, 570);
}

}  // namespace
}  // namespace warpsmith
