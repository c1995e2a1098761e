#include "coordinator/core/ledger.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

Trajectory Sampled(PolicyVersion version, Outcome outcome = Correct{}) {
  Trajectory trajectory;
  trajectory.turns.resize(1);
  trajectory.turns[0].action.version = version;
  trajectory.turns[0].evaluation.outcome = std::move(outcome);
  return trajectory;
}

CheckpointDurable Checkpoint(PolicyVersion version, std::vector<ConsumedTrajectory> consumed) {
  CheckpointDurable checkpoint;
  checkpoint.run = RunId(1);
  checkpoint.version = version;
  checkpoint.consumed = std::move(consumed);
  return checkpoint;
}

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    for (int i = 0; i < 6; ++i) ledger.Append(Sampled({1, 0}));
  }
  Ledger ledger;
};

TEST_F(LedgerTest, PlacesAreDenseFromZero) {
  EXPECT_EQ(ledger.Append(Sampled({1, 0})), 6u);
  EXPECT_EQ(ledger.end(), 7u);
  EXPECT_EQ(ledger.base(), 0u);
}

TEST_F(LedgerTest, ASecondConsumptionIsAnErrorAndTheFirstFateStays) {
  ledger.Consume(Checkpoint({1, 1}, {{0, Fate::kTrained}}));
  EXPECT_TRUE(ledger.Consume(Checkpoint({1, 2}, {{0, Fate::kStale}})).empty());
  EXPECT_EQ(ledger.errors(), 1);
  EXPECT_EQ(ledger.entries()[0].fate, Fate::kTrained);
  EXPECT_EQ(ledger.count(Fate::kStale), 0);
}

TEST_F(LedgerTest, ARepeatedReportOfTheSameCheckpointChangesNothing) {
  const auto report = Checkpoint({1, 1}, {{0, Fate::kTrained}, {1, Fate::kDropped}});
  EXPECT_EQ(ledger.Consume(report).size(), 2u);
  EXPECT_TRUE(ledger.Consume(report).empty());
  EXPECT_EQ(ledger.errors(), 0);
  EXPECT_EQ(ledger.consumed(), 2);
}

TEST_F(LedgerTest, APlaceThatWasNeverGivenIsAnError) {
  EXPECT_TRUE(ledger.Consume(Checkpoint({1, 1}, {{6, Fate::kTrained}})).empty());
  EXPECT_EQ(ledger.errors(), 1);
}

TEST_F(LedgerTest, TheBaseMovesOnlyOverConsumedPlaces) {
  ledger.Consume(Checkpoint({1, 1}, {{1, Fate::kTrained}}));
  EXPECT_EQ(ledger.base(), 0u);
  ledger.Consume(Checkpoint({1, 2}, {{0, Fate::kTrained}}));
  EXPECT_EQ(ledger.base(), 2u);
}

TEST_F(LedgerTest, ALearnerThatLostACheckpointConsumesItsTrajectoriesAgain) {
  ledger.Consume(Checkpoint({1, 1}, {{0, Fate::kTrained}, {1, Fate::kTrained}}));
  ledger.Consume(Checkpoint({1, 2}, {{2, Fate::kTrained}, {3, Fate::kTrained}}));
  const auto resumed = ledger.Resume(RunId(1), {2, {}}, {1, 1});
  EXPECT_EQ(resumed.undone.size(), 2u);
  EXPECT_EQ(ledger.base(), 2u);
  ledger.Consume(Checkpoint({2, 2}, {{2, Fate::kTrained}, {3, Fate::kStale}}));
  EXPECT_EQ(ledger.errors(), 0);
  EXPECT_EQ(ledger.count(Fate::kTrained), 3);
}

TEST_F(LedgerTest, AWatermarkBeforeItsReportMarksWithoutAFateAndTheReportFillsItIn) {
  const auto resumed = ledger.Resume(RunId(1), {2, {4}}, {1, 1});
  EXPECT_EQ(resumed.consumed.size(), 3u);
  EXPECT_EQ(ledger.consumed(), 3);
  EXPECT_EQ(ledger.count(Fate::kTrained), 0);
  EXPECT_EQ(ledger.Consume(Checkpoint({1, 1}, {{4, Fate::kTrained}})).size(), 1u);
  EXPECT_EQ(ledger.count(Fate::kTrained), 1);
  EXPECT_EQ(ledger.errors(), 0);
}

TEST_F(LedgerTest, TooOldOffTheLineAndUnrewardedTrajectoriesAreNotUsable) {
  VersionLine line;
  line.Fork({}, 1);
  line.Advance({1, 3});
  Ledger mixed;
  mixed.Append(Sampled({1, 3}));
  mixed.Append(Sampled({1, 1}));
  mixed.Append(Sampled({1, 3}, Infrastructure{}));
  mixed.Append(Sampled({0, 5}));
  EXPECT_EQ(mixed.Usable(line, 2, {GroupId(0)}), 2);
  EXPECT_EQ(mixed.Usable(line, 1, {GroupId(0)}), 1);
  mixed.Consume(Checkpoint({1, 4}, {{0, Fate::kTrained}}));
  EXPECT_EQ(mixed.Usable(line, 2, {GroupId(0)}), 1);
}

TEST_F(LedgerTest, AnEpisodeLeftWithoutPeersIsNotUsableForNoLearnerCanWaitForIt) {
  VersionLine line;
  Ledger single;
  single.Append(Sampled({}));
  EXPECT_EQ(single.Usable(line, 1, {GroupId(0)}), 1) << "its peers still run";
  EXPECT_EQ(single.Usable(line, 1, {}), 0);
  single.Append(Sampled({}));
  EXPECT_EQ(single.Usable(line, 1, {}), 2);
}

TEST_F(LedgerTest, IsTheSameAfterARestart) {
  ledger.Consume(Checkpoint({1, 1}, {{0, Fate::kTrained}, {2, Fate::kStale}}));
  const Ledger again(ledger.entries());
  EXPECT_EQ(again.base(), ledger.base());
  EXPECT_EQ(again.consumed(), 2);
  EXPECT_EQ(again.count(Fate::kStale), 1);
}

}  // namespace
}  // namespace warpsmith
