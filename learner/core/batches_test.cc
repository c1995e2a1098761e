#include "learner/core/batches.h"

#include <gmock/gmock.h>

namespace warpsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Algorithm Small(int group, int batch, int staleness) {
  Algorithm algorithm;
  algorithm.group = group;
  algorithm.batch_episodes = batch;
  algorithm.staleness = staleness;
  return algorithm;
}

Trajectory Episode(uint64_t group, PolicyVersion version = {1, 0}) {
  Turn turn;
  turn.action = {.ids = {0}, .log_probs = {-0.5f}, .mask = {1}, .version = version};
  turn.evaluation.outcome = Correct{};
  Trajectory trajectory;
  trajectory.id.group = GroupId(group);
  trajectory.turns = {turn};
  return trajectory;
}

Trajectory LostEpisode(uint64_t group) {
  Trajectory trajectory = Episode(group);
  trajectory.turns[0].evaluation.outcome = Infrastructure{};
  return trajectory;
}

std::vector<uint64_t> Numbers(const Batch& batch, Fate fate) {
  std::vector<uint64_t> numbers;
  for (const auto& consumed : batch.consumed)
    if (consumed.fate == fate) numbers.push_back(consumed.publish_seq);
  return numbers;
}

const TrainedLine kStart({1, 0}, {});

TEST(TrainedLine, ForgetsStepsThatARestartUndid) {
  TrainedLine line({1, 5}, {});
  line.Advance({2, 5});  // the new learner found a checkpoint at step 5
  line.Advance({2, 6});
  EXPECT_TRUE(line.Contains({0, 0}));
  EXPECT_TRUE(line.Contains({1, 5}));
  EXPECT_FALSE(line.Contains({1, 6}));
  EXPECT_TRUE(line.Contains({2, 6}));
  EXPECT_FALSE(line.Contains({2, 7}));
  EXPECT_EQ(line.StepsBehind({1, 4}), 2u);
}

TEST(Watermark, ClosesGapsAndTakesNothingTwice) {
  Watermark mark({.below = 3, .exceptions = {5, 4}});
  EXPECT_FALSE(mark.Add(2));
  EXPECT_FALSE(mark.Add(5));
  EXPECT_TRUE(mark.Add(8));
  EXPECT_EQ(mark.Save(), (TrainingWatermark{.below = 3, .exceptions = {4, 5, 8}}));
  EXPECT_TRUE(mark.Add(3));
  EXPECT_EQ(mark.Save(), (TrainingWatermark{.below = 6, .exceptions = {8}}));
}

TEST(Batches, NothingIsTakenTwice) {
  Batches batches(Small(2, 2, 4), {.below = 1, .exceptions = {3}});
  EXPECT_FALSE(batches.Add(0, Episode(1)));
  EXPECT_FALSE(batches.Add(3, Episode(1)));
  EXPECT_TRUE(batches.Add(1, Episode(1)));
  EXPECT_FALSE(batches.Add(1, Episode(1)));
  EXPECT_TRUE(batches.Drop(2));
  EXPECT_FALSE(batches.Add(2, Episode(1)));
  EXPECT_FALSE(batches.Drop(2));
}

TEST(Batches, WaitsForWholeGroups) {
  Batches batches(Small(2, 4, 4), {});
  batches.Add(0, Episode(1));
  batches.Add(1, Episode(2));
  batches.Add(2, Episode(3));
  batches.Add(3, Episode(2));
  EXPECT_FALSE(batches.Cut(kStart));
  batches.Add(4, Episode(3));
  const auto batch = batches.Cut(kStart);
  ASSERT_TRUE(batch);
  EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(batch->trajectories, SizeIs(4));
  EXPECT_EQ(batches.watermark(), (TrainingWatermark{.below = 0, .exceptions = {1, 2, 3, 4}}));
  EXPECT_FALSE(batches.Cut(kStart));
}

TEST(Batches, AGroupThatWillNeverBeWholeDoesNotHoldTheRunUp) {
  // Group 1 lost an episode for good. With staleness 0 the coordinator admits no more than a batch.
  Batches strict(Small(3, 5, 0), {});
  for (uint64_t seq : {0, 1}) strict.Add(seq, Episode(1));
  for (uint64_t seq : {2, 3, 4}) strict.Add(seq, Episode(2));
  const auto all = strict.Cut(kStart);
  ASSERT_TRUE(all);
  EXPECT_THAT(Numbers(*all, Fate::kTrained), ElementsAre(0, 1, 2, 3, 4));

  Batches patient(Small(4, 4, 1), {});
  for (uint64_t seq : {0, 1}) patient.Add(seq, Episode(1));
  for (uint64_t seq : {2, 3}) patient.Add(seq, Episode(2));
  EXPECT_FALSE(patient.Cut(kStart));
  for (uint64_t seq : {4, 5}) patient.Add(seq, Episode(3));
  const auto oldest = patient.Cut(kStart);
  ASSERT_TRUE(oldest);
  EXPECT_THAT(Numbers(*oldest, Fate::kTrained), ElementsAre(0, 1, 2, 3));
}

TEST(Batches, OverAgeIsStaleAtTheCutNotAtArrival) {
  // Tagged step 3, learner at step 7, staleness 2.
  Batches batches(Small(2, 2, 2), {});
  batches.Add(0, Episode(1, {1, 3}));
  batches.Add(1, Episode(1, {1, 5}));
  batches.Add(2, Episode(2, {1, 5}));
  batches.Add(3, Episode(2, {1, 7}));
  const TrainedLine line({1, 7}, {});
  const auto batch = batches.Cut(line);
  ASSERT_TRUE(batch);
  EXPECT_THAT(Numbers(*batch, Fate::kStale), ElementsAre(0));
  EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(2, 3));
  // The peer of the stale one is alone in a group that is whole.
  EXPECT_THAT(Numbers(*batch, Fate::kDropped), ElementsAre(1));
  EXPECT_EQ(batches.watermark(), (TrainingWatermark{.below = 4}));
}

TEST(Batches, TheOldestTurnCounts) {
  Batches batches(Small(2, 2, 2), {});
  Trajectory mixed = Episode(1, {1, 7});
  mixed.turns.insert(mixed.turns.begin(), Episode(1, {1, 4}).turns[0]);
  batches.Add(0, mixed);
  batches.Add(1, Episode(1, {1, 7}));
  const auto rest = batches.CutRest(TrainedLine({1, 7}, {}));
  ASSERT_TRUE(rest);
  EXPECT_THAT(Numbers(*rest, Fate::kStale), ElementsAre(0));
}

TEST(Batches, VersionsOffTheLineAreStale) {
  Batches batches(Small(2, 2, 100), {});
  batches.Add(0, Episode(1, {1, 9}));
  batches.Add(1, Episode(1, {1, 5}));
  batches.Add(2, Episode(1, {2, 6}));
  const auto batch = batches.Cut(TrainedLine({2, 6}, {{1, 5}}));
  ASSERT_TRUE(batch);
  EXPECT_THAT(Numbers(*batch, Fate::kStale), ElementsAre(0));
  EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(1, 2));
}

TEST(Batches, InfrastructureFillsNoBatch) {
  Batches batches(Small(2, 2, 4), {});
  batches.Add(0, LostEpisode(1));
  batches.Add(1, Episode(1));
  EXPECT_FALSE(batches.Cut(kStart));
  batches.Add(2, Episode(2));
  batches.Add(3, Episode(2));
  const auto batch = batches.Cut(kStart);
  ASSERT_TRUE(batch);
  EXPECT_THAT(Numbers(*batch, Fate::kDropped), ElementsAre(0, 1));
  EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(2, 3));
}

// Rewarded, and yet nothing to learn from: the policy chose nothing.
Trajectory EpisodeWithoutChoice(uint64_t group) {
  Trajectory trajectory = Episode(group);
  trajectory.turns[0].action.mask = {0};
  return trajectory;
}

// With staleness 0 the coordinator admits one batch and waits until it hears of it.
TEST(Batches, WhatIsGivenUpAndStillCountsForAdmissionDoesNotHoldTheRunUp) {
  for (const bool readable : {false, true}) {
    Batches batches(Small(2, 4, 0), {});
    if (readable)
      batches.Add(0, EpisodeWithoutChoice(1));
    else
      batches.Drop(0);
    batches.Add(1, Episode(1));
    batches.Add(2, Episode(2));
    EXPECT_FALSE(batches.Cut(kStart)) << "one more is on its way";
    batches.Add(3, Episode(2));
    const auto batch = batches.Cut(kStart);
    ASSERT_TRUE(batch) << readable;
    EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(2, 3));
    EXPECT_THAT(batch->trajectories, SizeIs(2));
    // The peer of what cannot be read waits for another one, and is too old for the next batch.
    EXPECT_EQ(Numbers(*batch, Fate::kDropped),
              readable ? (std::vector<uint64_t>{0, 1}) : (std::vector<uint64_t>{0}));

    for (uint64_t seq : {4, 5}) batches.Add(seq, Episode(3, {1, 1}));
    for (uint64_t seq : {6, 7}) batches.Add(seq, Episode(4, {1, 1}));
    const auto next = batches.Cut(TrainedLine({1, 1}, {}));
    ASSERT_TRUE(next);
    EXPECT_THAT(Numbers(*next, Fate::kTrained), ElementsAre(4, 5, 6, 7));
    EXPECT_EQ(batches.watermark(), (TrainingWatermark{.below = 8}));
  }
}

TEST(Batches, ABatchOfNothingTellsWhatWasGivenUpWhenNothingElseIsThere) {
  Batches batches(Small(2, 2, 0), {});
  batches.Drop(0);
  EXPECT_FALSE(batches.Cut(kStart));
  batches.Drop(1);
  const auto batch = batches.Cut(kStart);
  ASSERT_TRUE(batch);
  EXPECT_THAT(batch->trajectories, IsEmpty());
  EXPECT_THAT(Numbers(*batch, Fate::kDropped), ElementsAre(0, 1));
  EXPECT_FALSE(batches.Cut(kStart)) << "told once";
}

TEST(Batches, WhatTheCoordinatorDoesNotCountMakesNoSmallerBatch) {
  Batches batches(Small(2, 4, 0), {});
  batches.Add(0, LostEpisode(1));
  batches.Add(1, Episode(1));  // without a peer
  batches.Add(2, Episode(2));
  batches.Add(3, Episode(2));
  batches.Add(4, Episode(3));
  EXPECT_FALSE(batches.Cut(kStart));
  batches.Add(5, Episode(3));
  const auto batch = batches.Cut(kStart);
  ASSERT_TRUE(batch);
  EXPECT_THAT(Numbers(*batch, Fate::kTrained), ElementsAre(2, 3, 4, 5));
}

TEST(Batches, TheEndTakesEverythingOnce) {
  Batches batches(Small(4, 64, 4), {});
  for (uint64_t seq : {0, 1, 2}) batches.Add(seq, Episode(1));
  batches.Add(3, Episode(2));
  EXPECT_FALSE(batches.HasAllBelow(5));
  batches.Drop(4);
  EXPECT_TRUE(batches.HasAllBelow(5));
  EXPECT_FALSE(batches.HasAllBelow(6));
  EXPECT_FALSE(batches.Cut(kStart));
  const auto rest = batches.CutRest(kStart);
  ASSERT_TRUE(rest);
  EXPECT_THAT(Numbers(*rest, Fate::kTrained), ElementsAre(0, 1, 2));
  EXPECT_THAT(Numbers(*rest, Fate::kDropped), Not(IsEmpty()));
  EXPECT_EQ(batches.watermark(), (TrainingWatermark{.below = 5}));
  EXPECT_TRUE(batches.HasAllBelow(5));
  EXPECT_FALSE(batches.CutRest(kStart));
}

TEST(Batches, ALongRunKeepsNothingOfGroupsThatAreDone) {
  Batches batches(Small(2, 4, 4), {});
  for (uint64_t seq = 0; seq < 400; ++seq) {
    batches.Add(seq, seq % 8 == 0 ? LostEpisode(seq / 2) : Episode(seq / 2));
    batches.Cut(kStart);
  }
  EXPECT_EQ(batches.watermark().below, 400 - batches.pending());
  EXPECT_LE(batches.remembered_groups(), 4u);
}

TEST(Batches, AnEpisodeWithoutTurnsIsDropped) {
  Batches batches(Small(2, 2, 4), {});
  Trajectory empty = Episode(1);
  empty.turns.clear();
  batches.Add(0, empty);
  const auto rest = batches.CutRest(kStart);
  ASSERT_TRUE(rest);
  EXPECT_THAT(rest->trajectories, IsEmpty());
  EXPECT_THAT(Numbers(*rest, Fate::kDropped), ElementsAre(0));
}

}  // namespace
}  // namespace warpsmith
