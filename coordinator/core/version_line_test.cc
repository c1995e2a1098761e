#include "coordinator/core/version_line.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

TEST(VersionLine, VersionsAreSoManyStepsBehindTheNewest) {
  VersionLine line;
  line.Fork({}, 1);
  line.Advance({1, 3});
  EXPECT_EQ(line.Lag({1, 3}), 0u);
  EXPECT_EQ(line.Lag({1, 1}), 2u);
  EXPECT_EQ(line.Lag({0, 0}), 3u);
}

TEST(VersionLine, StepsAfterTheCheckpointThatALearnerGoesOnFromAreOffTheLine) {
  VersionLine line;
  line.Fork({}, 1);
  line.Advance({1, 7});
  line.Fork({1, 5}, 2);
  EXPECT_EQ(line.Lag({1, 5}), 0u);
  EXPECT_FALSE(line.Lag({1, 6}).has_value());
  line.Advance({2, 6});
  EXPECT_EQ(line.Lag({1, 5}), 1u);
  EXPECT_FALSE(line.Lag({1, 6}).has_value());
}

TEST(VersionLine, AnIncarnationThatLeftNoCheckpointWasNeverOnTheLine) {
  VersionLine line;
  line.Fork({}, 1);
  line.Advance({1, 4});
  line.Fork({1, 4}, 2);
  line.Advance({2, 5});
  line.Fork({1, 4}, 3);  // nothing of 2 was found
  EXPECT_FALSE(line.Lag({2, 5}).has_value());
  EXPECT_FALSE(line.Lag({2, 0}).has_value());
  EXPECT_EQ(line.Lag({1, 4}), 0u);
}

TEST(VersionLine, NothingOfTheFutureIsOnTheLine) {
  VersionLine line;
  line.Fork({}, 1);
  EXPECT_FALSE(line.Lag({2, 0}).has_value());
}

TEST(VersionLine, TheNewestVersionNeverDecreases) {
  VersionLine line;
  line.Fork({}, 2);
  line.Advance({2, 5});
  line.Advance({2, 4});
  line.Advance({1, 9});
  EXPECT_EQ(line.newest(), (PolicyVersion{2, 5}));
  line.Fork({2, 1}, 3);
  EXPECT_EQ(line.newest(), (PolicyVersion{2, 5}));
}

TEST(VersionLine, ANewLearnerDemandsItsOwnWeightsOnceAnythingWasTrained) {
  VersionLine line;
  line.Fork({}, 1);
  EXPECT_EQ(line.required(), PolicyVersion{});  // every worker has the start
  line.Advance({1, 2});
  EXPECT_EQ(line.required(), (PolicyVersion{1, 2}));
  line.Fork({1, 1}, 2);
  EXPECT_EQ(line.required(), (PolicyVersion{2, 0}));
}

}  // namespace
}  // namespace warpsmith
