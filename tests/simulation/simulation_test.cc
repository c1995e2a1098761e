// A slice of stories for every change; `tools/simulate` plays more.
#include "tests/simulation/simulation.h"

#include <gtest/gtest.h>

namespace warpsmith::sim {
namespace {

class Seeds : public testing::TestWithParam<uint64_t> {};

// Twelve tests of 25 stories: they share the cores, and a failure names few seeds.
TEST_P(Seeds, EveryInvariantHoldsAndEverythingEnds) {
  for (uint64_t seed = GetParam(); seed < GetParam() + 25; ++seed) {
    SimulationOptions options;
    options.seed = seed;
    const SimulationResult result = Simulate(options);
    for (const std::string& what : result.broken) ADD_FAILURE() << "seed " << seed << ": " << what;
    EXPECT_GT(result.faults, 0u) << "seed " << seed << ": a story without faults shows nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, Seeds, testing::Range<uint64_t>(1, 301, 25));

TEST(Simulation, TwoStoriesOfASeedAreTheSameToTheLastDraw) {
  for (uint64_t seed : {3, 17}) {
    SimulationOptions options;
    options.seed = seed;
    const SimulationResult first = Simulate(options), second = Simulate(options);
    EXPECT_EQ(first.unseed, second.unseed);
    EXPECT_EQ(first.events, second.events);
  }
}

TEST(Simulation, WithoutFaultsEverythingEndsSoonAfterItsStart) {
  SimulationOptions options;
  options.seed = 5;
  options.faults = {{}, {}, {}, {}, {}, {}, {}, {}, {}};
  const SimulationResult result = Simulate(options);
  EXPECT_TRUE(result.broken.empty());
  EXPECT_EQ(result.faults, 0u);
  EXPECT_LT(result.simulated_s, 90);
}

}  // namespace
}  // namespace warpsmith::sim
