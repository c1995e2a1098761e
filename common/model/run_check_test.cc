#include "common/model/run_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace warpsmith {
namespace {

using testing::HasSubstr;

std::string WhyNot(const RunSpec& spec) {
  const Status status = CheckPolicyAndAlgorithm(spec);
  return status ? "" : status.error().message;
}

TEST(RunCheck, EveryNumberHasBoundsAtBothEnds) {
  for (const auto& number : AlgorithmIntegers()) {
    RunSpec spec;
    EXPECT_EQ(WhyNot(spec), "");
    for (const int bad : {number.low - 1, number.high + 1, std::numeric_limits<int>::max()}) {
      spec.algorithm.*number.value = bad;
      EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm." + std::string(number.name) + ": "));
    }
    for (const int good : {number.low, number.high}) {
      spec.algorithm.*number.value = good;
      EXPECT_EQ(WhyNot(spec), "");
    }
  }
  for (const auto& number : AlgorithmReals()) {
    RunSpec spec;
    for (const double bad :
         {number.low - 0.001, number.high + 0.001, std::numeric_limits<double>::quiet_NaN(),
          std::numeric_limits<double>::infinity()}) {
      spec.algorithm.*number.value = bad;
      EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm." + std::string(number.name) + ": "));
    }
    for (const double good : {number.low, number.high}) {
      spec.algorithm.*number.value = good;
      EXPECT_EQ(WhyNot(spec), "");
    }
  }
}

TEST(RunCheck, UnknownWordsAreRefusedWithTheKnownOnes) {
  RunSpec spec;
  spec.policy = "gramar";
  EXPECT_EQ(WhyNot(spec), "policy.kind: 'gramar' is not one of grammar, random");
  spec = {};
  spec.algorithm.advantage = "grpo";
  EXPECT_EQ(WhyNot(spec), "algorithm.advantage: 'grpo' is not one of trloo, trloo_to_go");
}

TEST(RunCheck, OnlyARunThatDoesNotLearnMayHaveGroupsOfOne) {
  RunSpec spec;
  spec.algorithm.group = 1;
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.group: 1 is not in 2 to 1024"));
  spec.policy = "random";
  EXPECT_EQ(WhyNot(spec), "");
}

}  // namespace
}  // namespace warpsmith
