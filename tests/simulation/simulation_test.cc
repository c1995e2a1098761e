// A slice of stories for every change; `tools/simulate` plays more.
#include "tests/simulation/simulation.h"

#include <gtest/gtest.h>

namespace warpsmith::sim {
namespace {

constexpr FaultOptions kNoFaults = {{}, {}, {}, {}, {}, {}, {}, {}, {}};

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
  options.faults = kNoFaults;
  const SimulationResult result = Simulate(options);
  EXPECT_TRUE(result.broken.empty());
  EXPECT_EQ(result.faults, 0u);
  EXPECT_LT(result.simulated_s, 90);
}

TEST(Simulation, EvaluationsThatOutlastALeaseCostNoAttempt) {
  for (uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SimulationOptions options;
    options.seed = seed;
    options.faults = kNoFaults;
    options.network.loss = 0;  // a grant that is lost costs its attempt
    options.evaluation = std::chrono::seconds(6);
    const SimulationResult result = Simulate(options);
    EXPECT_EQ(result.leases_lost, 0u) << "seed " << seed;
    EXPECT_GT(result.trajectories, 0u) << "seed " << seed;
  }
}

TEST(Simulation, AWorkerWhoseDeviceHangsLosesItsLeasesAndTheOthersEndEverything) {
  for (uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SimulationOptions options;
    options.seed = seed;
    options.faults = kNoFaults;
    options.a_device_hangs = true;
    const SimulationResult result = Simulate(options);
    for (const std::string& what : result.broken) ADD_FAILURE() << "seed " << seed << ": " << what;
    EXPECT_GT(result.leases_lost, 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace warpsmith::sim
