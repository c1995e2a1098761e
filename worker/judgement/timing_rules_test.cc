#include "worker/judgement/timing_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "common/model/device_kind.h"

namespace warpsmith {
namespace {

TEST(Rules, AreSlowerToAccuseWhereCoresAreShared) {
  const TimingRules& own = TimingRulesFor(DeviceKind::kCuda);
  for (const DeviceTraits& traits : AllDeviceTraits()) {
    const TimingRules& rules = TimingRulesFor(traits.kind);
    if (traits.shares_host_cores) {
      EXPECT_GT(rules.uneven_loads, own.uneven_loads);
      EXPECT_GT(rules.uneven.agreeing, own.uneven.agreeing);
      EXPECT_GT(rules.noise.most_spread, own.noise.most_spread);
      EXPECT_GT(rules.wall_factor, own.wall_factor);
      EXPECT_TRUE(rules.wall_is_crowded && rules.uneven_only_if_valid);
    } else {
      EXPECT_EQ(&rules, &own) << ToString(traits.kind);
    }
    EXPECT_LT(rules.least_free_sigma * 3, 1) << "a thread left behind must show";
  }
}

double Normal(Random& random) {
  const double u = 1 - random.Uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * random.Uniform());
}

// A core that others use too: now and then a run is long by what they took, up to a time slice.
std::vector<std::vector<double>> OnASharedCore(size_t blocks, double us, double taken,
                                               Random& random) {
  std::vector<std::vector<double>> times(blocks);
  for (auto& runs : times)
    for (int i = 0; i < 4; ++i) {
      const double scatter = us * std::exp(0.15 * Normal(random));
      runs.push_back(scatter + (random.Uniform() < taken ? 4000 * random.Uniform() : 0));
    }
  return times;
}

TEST(SharedCores, NoHonestCandidateIsAccusedOnASharedCore) {
  Random random(31);
  const UnevenRule rule = TimingRulesFor(DeviceKind::kHost).uneven;
  constexpr int kLoads = 3;  // fresh ones, all of which must be uneven
  int accused = 0, suspected = 0;
  for (int stream = 0; stream < 10000; ++stream) {
    const double us = 20 * std::exp(5 * random.Uniform()), taken = 0.6 * random.Uniform();
    int uneven = 0;
    while (uneven < kLoads && UnevenPosition(OnASharedCore(6, us, taken, random),
                                             OnASharedCore(6, 80, taken, random), rule))
      ++uneven;
    suspected += uneven > 0;
    accused += uneven == kLoads;
  }
  EXPECT_EQ(accused, 0);
  EXPECT_LT(suspected, 100) << "a repeated timing is paid for by everybody else";
}

TEST(SharedCores, AHoarderIsSeenThroughTheHostsNoise) {
  Random random(32);
  const UnevenRule rule = TimingRulesFor(DeviceKind::kHost).uneven;
  int seen = 0;
  for (int stream = 0; stream < 1000; ++stream) {
    auto blocks = OnASharedCore(6, 5, 0.01, random);
    for (auto& runs : blocks) runs[0] += 800;
    seen += UnevenPosition(blocks, OnASharedCore(6, 80, 0.01, random), rule) == 0u;
  }
  EXPECT_GT(seen, 850);
}

}  // namespace
}  // namespace warpsmith
