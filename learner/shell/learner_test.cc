#include "learner/shell/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "learner/shell/testing_story.h"

namespace warpsmith {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class LearnerTest : public testing::Test, protected LearnerStory {
 protected:
  std::vector<uint64_t> Consumed() {
    std::vector<uint64_t> numbers;
    for (const auto& [version, report] : reports)
      for (const auto& consumed : report.consumed) numbers.push_back(consumed.publish_seq);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  // Each trajectory is in the final weights exactly once.
  void ExpectTrainedOnceEach() {
    ASSERT_TRUE(trained_version);
    std::istringstream lines(WeightsOf(*trained_version));
    std::multiset<std::string> trained;
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "start");
    while (std::getline(lines, line)) trained.insert(line);
    std::multiset<std::string> wanted;
    for (uint64_t group = 0; group < groups; ++group)
      for (const char* episode : {".0", ".1"}) wanted.insert(std::to_string(group) + episode);
    EXPECT_EQ(trained, wanted);
  }
  size_t Unacknowledged() {
    MemoryQueue fresh(broker);
    return fresh.Read(stream, 1000, {})->size();
  }
};

TEST_F(LearnerTest, ARefusedLearnerStopsAndSaysWhy) {
  Tell(Refused{"a newer learner has taken over"});
  auto status = Passes(1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(status.error().message, HasSubstr("a newer learner"));
}

TEST_F(LearnerTest, ARunThatCannotBeTrainedIsRefusedUntilItIsToBeForgottenAndNeverOpenedAgain) {
  refusal = "no family fits";
  ASSERT_TRUE(Passes());
  ASSERT_GE(Heard<RunRefused>().size(), 2u) << "repeated";
  EXPECT_EQ(Heard<RunRefused>()[0], (RunRefused{run, "no family fits"}));
  EXPECT_THAT(Heard<WeightsAnnouncement>(), IsEmpty());
  run_is_live = false;
  Tell(ForgetRun{run});
  ASSERT_TRUE(Passes());
  heard.clear();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Heard<RunRefused>(), IsEmpty());
}

TEST_F(LearnerTest, ARunThatEndsBeforeItsFolderCouldBeOpenedIsForgottenLikeAnyOther) {
  disk_is_full = true;
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Heard<WeightsAnnouncement>(), IsEmpty());
  EXPECT_THAT(Heard<RunRefused>(), IsEmpty()) << "a full disk passes";
  run_is_live = false;
  Tell(ForgetRun{run});
  ASSERT_TRUE(Passes());
  disk_is_full = false;
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(registered.runs, IsEmpty());
}

TEST_F(LearnerTest, AnEndThatCannotBeMarkedEndsNoLearner) {
  ASSERT_TRUE(Passes());
  LearnerStarts();
  run_is_live = false;
  std::filesystem::create_directories(RunFolder() / "finished" / "in the way");
  ASSERT_TRUE(Passes(4));
  Tell(ForgetRun{run});
  EXPECT_TRUE(Passes());
  EXPECT_THAT(Heard<Heartbeat>(), Not(IsEmpty()));
}

TEST_F(LearnerTest, RegistersAgainUntilWelcomedAndWhenUnknown) {
  coordinator_is_there = false;
  ASSERT_TRUE(Passes(8));
  EXPECT_GE(network->sent.size(), 3u);
  coordinator_is_there = true;
  ASSERT_TRUE(Passes());
  EXPECT_GE(Heard<Heartbeat>().size(), 3u);
  heard.clear();
  Tell(Unknown{});
  ASSERT_TRUE(Passes(1));
  EXPECT_THAT(Heard<RegisterLearner>(), SizeIs(1));
}

TEST_F(LearnerTest, TheFirstWeightsAreAnnouncedBeforeAnythingIsTrained) {
  ASSERT_TRUE(Passes());
  const auto announced = Heard<WeightsAnnouncement>();
  ASSERT_GE(announced.size(), 2u) << "repeated";
  EXPECT_EQ(announced[0].version, (PolicyVersion{1, 0}));
  EXPECT_EQ(announced[0].size_bytes, std::string("start\n").size());
  EXPECT_EQ(WeightsOf({1, 0}), "start\n");
  EXPECT_TRUE(weights.Find(run, {1, 0}));
}

TEST_F(LearnerTest, ABatchBecomesACheckpointThenAnAnnouncementThenAReport) {
  ASSERT_TRUE(Passes());
  heard.clear();
  WorkersFinishGroups(2, {1, 0});
  ASSERT_TRUE(Passes(3));
  size_t announced = heard.size(), reported = heard.size();
  for (size_t i = heard.size(); i-- > 0;) {
    if (auto* a = std::get_if<WeightsAnnouncement>(&heard[i]); a && a->version.step == 1)
      announced = i;
    if (std::holds_alternative<CheckpointDurable>(heard[i])) reported = i;
  }
  ASSERT_LT(announced, reported);
  ASSERT_LT(reported, heard.size());
  const CheckpointDurable& report = reports.at({1, 1});
  EXPECT_EQ(report.parent, (PolicyVersion{1, 0}));
  EXPECT_EQ(report.report.step, 1u);
  EXPECT_EQ(report.watermark, (TrainingWatermark{4, {}}));
  EXPECT_THAT(Consumed(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Unacknowledged(), 0u);
}

TEST_F(LearnerTest, NothingIsSaidOfACheckpointThatIsNotDurable) {
  ASSERT_TRUE(Passes());
  disk_is_full = true;
  WorkersFinishGroups(2, {1, 0});
  ASSERT_TRUE(Passes());
  EXPECT_TRUE(reports.empty());
  EXPECT_EQ(Unacknowledged(), 4u);
  disk_is_full = false;
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Consumed(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(WeightsOf({1, 1}), "start\n0.0\n0.1\n1.0\n1.1\n") << "trained once, saved later";
}

TEST_F(LearnerTest, AReportIsRepeatedUntilItIsAcknowledged) {
  ASSERT_TRUE(Passes());
  acknowledges = false;
  WorkersFinishGroups(2, {1, 0});
  ASSERT_TRUE(Passes());
  EXPECT_GE(Heard<CheckpointDurable>().size(), 3u);
  acknowledges = true;
  ASSERT_TRUE(Passes());
  heard.clear();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Heard<CheckpointDurable>(), IsEmpty());
}

TEST_F(LearnerTest, TheSameOrderOfTrajectoriesGivesTheSameWeights) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(6);
  ASSERT_TRUE(Passes());
  LearnerStory other;
  ASSERT_TRUE(other.Passes());
  other.WorkersFinishGroups(6);
  ASSERT_TRUE(other.Passes());
  EXPECT_EQ(WeightsOf({1, 3}), other.WeightsOf({1, 3}));
  EXPECT_NE(WeightsOf({1, 3}), "none");
}

TEST_F(LearnerTest, AClosedRunEndsWithASmallerBatchAndIsForgotten) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(3);
  RunCloses();
  ASSERT_TRUE(Passes());
  ExpectTrainedOnceEach();
  EXPECT_EQ(*trained_version, (PolicyVersion{1, 2}));
  EXPECT_GE(Heard<RunTrained>().size(), 2u) << "repeated until told to forget";
  run_is_live = false;
  Tell(ForgetRun{run});
  ASSERT_TRUE(Passes());
  heard.clear();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Heard<RunTrained>(), IsEmpty());
  EXPECT_FALSE(weights.Find(run, {1, 2}));
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(registered.runs, IsEmpty());
}

TEST_F(LearnerTest, ARunThatIsClosedWithoutAnythingLeftIsTrainedAtOnce) {
  ASSERT_TRUE(Passes());
  RunCloses();
  ASSERT_TRUE(Passes());
  EXPECT_EQ(trained_version, (PolicyVersion{1, 0}));
}

TEST_F(LearnerTest, AClosedRunWaitsForWhatIsStillOnItsWay) {
  ASSERT_TRUE(Passes());
  trajectories.push_back(Encode(EpisodeOf(run, 0, 0, {})));
  trajectories.push_back(Encode(EpisodeOf(run, 0, 1, {})));
  Publish({{"", 1, trajectories[1]}});
  RunCloses();
  ASSERT_TRUE(Passes());
  EXPECT_FALSE(trained_version);
  groups = 1;
  Publish({{"", 0, trajectories[0]}});
  ASSERT_TRUE(Passes());
  ExpectTrainedOnceEach();
}

TEST_F(LearnerTest, APayloadThatMakesNoSenseIsDroppedAndTold) {
  ASSERT_TRUE(Passes());
  trajectories.push_back("rubbish");
  Publish({{"", 0, "rubbish"}});
  RunCloses();
  ASSERT_TRUE(Passes());
  ASSERT_TRUE(trained_version);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_THAT(reports.begin()->second.consumed, ElementsAre(ConsumedTrajectory{0, Fate::kDropped}));
}

// With staleness 0 nothing more is admitted until the coordinator hears what became of a batch.
TEST_F(LearnerTest, APayloadThatMakesNoSenseIsToldEvenWhereNoBatchIsFull) {
  spec.algorithm.staleness = 0;
  ASSERT_TRUE(Passes());
  trajectories.push_back("rubbish");
  Publish({{"", 0, "rubbish"}});
  WorkersFinishGroups(1, {1, 0});
  trajectories.push_back(Encode(EpisodeOf(run, 100, 0, {1, 0})));
  Publish({{"", 3, trajectories.back()}});
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Consumed(), ElementsAre(0, 1, 2));
  EXPECT_EQ(WeightsOf({1, 1}), "start\n0.0\n0.1\n");
  WorkersFinishGroups(2, {1, 1});
  ASSERT_TRUE(Passes());
  EXPECT_THAT(Consumed(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(Unacknowledged(), 0u);
}

TEST_F(LearnerTest, AQueueThatIsAwayFullOrWipedIsSurvived) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(1);
  ASSERT_TRUE(Passes());
  broker->SetAway(true);
  ASSERT_TRUE(Passes());
  broker->Wipe();
  broker->SetAway(false);
  ASSERT_TRUE(Passes());
  Publish({{"", 0, trajectories[0]}, {"", 1, trajectories[1]}});  // as the coordinator does
  WorkersFinishGroups(2);
  RunCloses();
  ASSERT_TRUE(Passes());
  ExpectTrainedOnceEach();
  EXPECT_EQ(Unacknowledged(), 0u);
}

// A server that accepts and never answers: every question costs its whole time limit.
class SilentQueue : public MemoryQueue {
 public:
  SilentQueue(std::shared_ptr<MemoryBroker> broker, ManualClock& clock, int& questions)
      : MemoryQueue(std::move(broker)), clock_(clock), questions_(questions) {}
  Result<std::vector<QueuedTrajectory>> Read(const std::string&, size_t, Duration) override {
    ++questions_;
    clock_.Advance(seconds(3));
    return Fail(ErrorCode::kUnavailable, "no answer");
  }

 private:
  ManualClock& clock_;
  int& questions_;
};

TEST_F(LearnerTest, AQueueThatNeverAnswersIsAskedOnceInAWhileWhateverTheNumberOfRuns) {
  int questions = 0;
  make_queue = [&] { return std::make_unique<SilentQueue>(broker, clock, questions); };
  ASSERT_TRUE(Passes(4));
  for (uint64_t other : {2, 3, 4}) Tell(TrainRun{RunId(other), spec, stream});
  ASSERT_TRUE(Passes(6));
  questions = 0;
  heard.clear();
  ASSERT_TRUE(Passes(20));  // half a second each, besides what the queue takes
  EXPECT_GE(questions, 5) << "it may come back";
  EXPECT_LE(questions, 11);
  EXPECT_GE(Heard<Heartbeat>().size(), 9u) << "the coordinator hears of us";
}

// As a server answers where a stream's name is taken by something else.
class PartlyRefusingQueue : public MemoryQueue {
 public:
  using MemoryQueue::MemoryQueue;
  Result<std::vector<QueuedTrajectory>> Read(const std::string& stream, size_t limit,
                                             Duration wait) override {
    if (stream == "taken") return Fail(ErrorCode::kInternal, "WRONGTYPE");
    return MemoryQueue::Read(stream, limit, wait);
  }
};

TEST_F(LearnerTest, AStreamThatCannotBeReadHoldsNoOtherRunUp) {
  make_queue = [&] { return std::make_unique<PartlyRefusingQueue>(broker); };
  ASSERT_TRUE(Passes(4));
  Tell(TrainRun{RunId(0), spec, "taken"});  // asked before the other one
  ASSERT_TRUE(Passes(4));
  WorkersFinishGroups(4, {1, 0});
  ASSERT_TRUE(Passes(6));
  EXPECT_THAT(Consumed(), SizeIs(8));
}

// Killed after every possible number of messages, with the newest checkpoint possibly not
// announced, not reported or not acknowledged: the next process goes on, and everything is trained
// exactly once.
TEST_F(LearnerTest, KilledBetweenAnyTwoMessagesNothingIsTrainedTwiceOrLost) {
  for (int64_t sends = 0; sends < 24; ++sends) {
    LearnerStory story;
    ASSERT_TRUE(story.Passes(4));
    story.network->sends_left = sends;
    for (int round = 0; round < 3; ++round) {
      story.WorkersFinishGroups(2);
      ASSERT_TRUE(story.Passes(2));
    }
    story.LearnerStarts();
    ASSERT_TRUE(story.Passes());
    story.WorkersFinishGroups(1);
    story.RunCloses();
    ASSERT_TRUE(story.Passes());
    ASSERT_TRUE(story.trained_version) << sends;
    std::vector<uint64_t> numbers;
    for (const auto& [version, report] : story.reports)
      for (const auto& consumed : report.consumed) numbers.push_back(consumed.publish_seq);
    std::sort(numbers.begin(), numbers.end());
    ASSERT_THAT(numbers, SizeIs(14)) << "each is told once, sends " << sends;
    std::istringstream lines(story.WeightsOf(*story.trained_version));
    std::set<std::string> trained;
    std::string line;
    int count = 0;
    for (; std::getline(lines, line); ++count) trained.insert(line);
    EXPECT_EQ(count, 15) << "sends " << sends;
    EXPECT_THAT(trained, SizeIs(15)) << "sends " << sends;
  }
}

TEST_F(LearnerTest, KilledWhileTrainingTheBatchIsTrainedByTheNextProcess) {
  ASSERT_TRUE(Passes());
  trains = false;
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  EXPECT_THAT(withheld, SizeIs(1));
  withheld.clear();
  trains = true;
  LearnerStarts();
  RunCloses();
  ASSERT_TRUE(Passes());
  ExpectTrainedOnceEach();
}

// The process ends before the loop hears that the checkpoint is durable.
TEST_F(LearnerTest, KilledBetweenSavingAndAnnouncingTheNextProcessTellsOfTheCheckpoint) {
  ASSERT_TRUE(Passes());
  trains = false;
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  auto work = std::exchange(withheld, {});
  learner.reset();
  for (auto& step : work) step();  // durable, and nobody left to hear
  EXPECT_TRUE(reports.empty());
  trains = true;
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_EQ(registered.runs.at(0).version, (PolicyVersion{1, 1}));
  EXPECT_EQ(registered.runs.at(0).watermark, (TrainingWatermark{4, {}}));
  EXPECT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports.begin()->first, (PolicyVersion{1, 1}));
  EXPECT_EQ(Heard<WeightsAnnouncement>().back().version, (PolicyVersion{2, 1}));
}

TEST_F(LearnerTest, ANewProcessGoesOnUnderItsOwnIncarnationWithTheSameWeights) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_EQ(WeightsOf({2, 1}), WeightsOf({1, 1}));
  WorkersFinishGroups(1, {1, 1});  // on the line
  WorkersFinishGroups(1, {2, 1});
  ASSERT_TRUE(Passes());
  EXPECT_EQ(reports.at({2, 2}).parent, (PolicyVersion{2, 1}));
  EXPECT_EQ(WeightsOf({2, 2}), "start\n0.0\n0.1\n1.0\n1.1\n2.0\n2.1\n3.0\n3.1\n");
}

TEST_F(LearnerTest, VersionsOffTheLineAreStale) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  LearnerStarts();
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(1, {1, 7});  // of weights that did not survive
  RunCloses();
  ASSERT_TRUE(Passes());
  const auto& last = reports.rbegin()->second;
  EXPECT_THAT(last.consumed, ElementsAre(ConsumedTrajectory{4, Fate::kStale},
                                         ConsumedTrajectory{5, Fate::kStale}));
}

TEST_F(LearnerTest, ABrokenNewestCheckpointIsSetAsideAndTheOneBeforeIsUsed) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(4);
  ASSERT_TRUE(Passes());
  ASSERT_TRUE(WriteFileAtomically(RunFolder() / "1.2.safetensors", "half of wha"));
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_EQ(registered.runs.at(0).version, (PolicyVersion{1, 1}));
  RunCloses();
  ASSERT_TRUE(Passes());
  ExpectTrainedOnceEach();
}

TEST_F(LearnerTest, AnotherRunOfTheSameNumberIsNotMixedUp) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  spec.seed = 2;  // another coordinator's run 1
  trajectories.clear();
  LearnerStarts();
  auto status = Passes();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("another run"));
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_THAT(registered.runs, IsEmpty());
  EXPECT_EQ(WeightsOf({3, 0}), "start\n");
}

TEST_F(LearnerTest, ACoordinatorThatLostItsStoreStartsTheRunAnew) {
  ASSERT_TRUE(Passes());
  LearnerStarts();
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(2);
  ASSERT_TRUE(Passes());
  incarnation = 0;  // it counts again from the start
  trajectories.clear();
  LearnerStarts();
  auto status = Passes();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(status.error().message, HasSubstr("lost its store"));
  LearnerStarts();
  ASSERT_TRUE(Passes());
  EXPECT_EQ(WeightsOf({2, 0}), "start\n");
}

// Both may be there for a while, as when a deployment is rolled over.
TEST_F(LearnerTest, AnEarlierProcessEndsAndLeavesTheCheckpointsOfALaterOneAlone) {
  ASSERT_TRUE(Passes());
  LearnerStarts();
  ASSERT_TRUE(Passes());
  const auto opened =
      RunTrainer({run, spec, "s"}, 1, RunFolder(), 3, FakeTrainer::Maker(&disk_is_full)).Open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("a later learner"));
  EXPECT_EQ(WeightsOf({2, 0}), "start\n");
}

// The coordinator fails a run that is refused; a disk can be mended.
TEST_F(LearnerTest, ADiskThatMayNotBeWrittenFailsNoRun) {
  bool read_only = true;
  RunTrainer trainer(
      {run, spec, "s"}, 1, RunFolder(), 3, [&](const RunSpec&) -> Result<TrainerPort> {
        return TrainerPort{.step = [](auto) { return StepReport{}; },
                           .load = [](auto) { return Status(); },
                           .save = [&](const std::string& path) -> Status {
                             if (read_only)
                               return Fail(ErrorCode::kInvalidInput, "read-only file system");
                             return WriteFileAtomically(path, "weights");
                           }};
      });
  const auto refused = trainer.Open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("read-only"));
  read_only = false;
  EXPECT_TRUE(trainer.Open());
}

TEST_F(LearnerTest, OnlyTheNewestCheckpointsAreKept) {
  ASSERT_TRUE(Passes());
  WorkersFinishGroups(12);
  ASSERT_TRUE(Passes());
  EXPECT_EQ(WeightsOf({1, 3}), "none");
  EXPECT_NE(WeightsOf({1, 4}), "none");
  EXPECT_NE(WeightsOf({1, 6}), "none");
}

}  // namespace
}  // namespace warpsmith
