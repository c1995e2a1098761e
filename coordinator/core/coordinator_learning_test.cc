// Stories of runs that learn: streams, checkpoints, weights and the end of a run.
#include <gmock/gmock.h>

#include "coordinator/core/testing_story.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

class LearningTest : public CoordinatorTest {
 protected:
  LearningTest() {
    Registers(kAnna, 1);
    LearnerJoins("lena");
    run = Submit(GrammarSpec());
    stream = LearnerHeard<TrainRun>("lena").at(0).stream;
  }
  // Finishes groups as they are assigned; gives the number of groups.
  int Work(PolicyVersion version = {}) {
    int groups = 0;
    for (auto jobs = Heard<AssignJob>(kAnna); !jobs.empty(); jobs = Heard<AssignJob>(kAnna)) {
      for (const AssignJob& job : jobs) Finishes(kAnna, job, version);
      groups += static_cast<int>(jobs.size());
    }
    return groups;
  }
  static std::vector<uint64_t> Places(uint64_t from, uint64_t to) {
    std::vector<uint64_t> places;
    for (uint64_t place = from; place < to; ++place) places.push_back(place);
    return places;
  }

  RunId run;
  std::string stream;
};

TEST_F(LearningTest, TheIncarnationIsDurableBeforeTheLearnerHearsOfIt) {
  store_works = false;
  LearnerSays("lola", RegisterLearner{});
  EXPECT_TRUE(LearnerHeard<WelcomeLearner>("lola").empty());
  StoreCatchesUp();
  EXPECT_EQ(LearnerHeard<WelcomeLearner>("lola").at(0).incarnation, 2u);
  LearnerSays("lena", Heartbeat{});
  EXPECT_TRUE(LearnerHeard<Refused>("lena").empty()) << "lola has not spoken yet";
  LearnerSays("lola", Heartbeat{});
  LearnerSays("lena", Heartbeat{});
  EXPECT_EQ(LearnerHeard<Refused>("lena").size(), 1u);
}

TEST_F(LearningTest, ALearnerOfAnotherProtocolVersionIsRefusedWithWhatToDoAndReplacesNobody) {
  RegisterLearner foreign;
  foreign.protocol_version = foreign.newest_protocol = kNewestProtocol + 1;
  LearnerSays("lola", foreign);
  const auto refused = LearnerHeard<Refused>("lola");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].why, HasSubstr("the learner " + std::to_string(kNewestProtocol + 1)));
  EXPECT_THAT(refused[0].why, HasSubstr("one apart"));
  LearnerSays("lola", Heartbeat{});  // it does not listen
  EXPECT_EQ(LearnerHeard<Unknown>("lola").size(), 1u);
  EXPECT_TRUE(LearnerHeard<WelcomeLearner>("lola").empty());
  LearnerSays("lena", Heartbeat{});
  EXPECT_TRUE(LearnerHeard<Refused>("lena").empty());
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
}

TEST_F(LearningTest, TrajectoriesArePublishedInOrderOnceDurable) {
  const auto jobs = Heard<AssignJob>(kAnna);
  Done<ExtendStream>();
  store_works = false;
  Says(kAnna, Result(jobs[0], 3));
  Says(kAnna, Result(jobs[0], 1));
  EXPECT_TRUE(Done<ExtendStream>().empty());
  StoreCatchesUp();
  const auto extended = Done<ExtendStream>();
  ASSERT_EQ(extended.size(), 2u);
  EXPECT_EQ(extended[0].end, 1u);
  EXPECT_EQ(extended[1].end, 2u);
  EXPECT_EQ(image.Stream(run, 0, 9)[0].trajectory.id.episode, 3u);
}

TEST_F(LearningTest, RunsAheadOfTheLearnerOnlyAsFarAsItsStalenessAllows) {
  EXPECT_EQ(Work(), 4);  // 16 episodes
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("waits for the learner"));
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(LearnerHeard<AckCheckpoint>("lena").size(), 1u);
  Says(kAnna, WeightsInUse{run, {1, 1}});
  EXPECT_EQ(Work({1, 1}), 2);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
}

TEST_F(LearningTest, ACheckpointIsAcknowledgedOnlyWhenItsMarksAreDurable) {
  Work();
  store_works = false;
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_TRUE(LearnerHeard<AckCheckpoint>("lena").empty());
  Restart();
  store_works = true;
  EXPECT_EQ(StatusOf(run).trajectories_trained, 0);
  LearnerSays("lena", Heartbeat{});
  EXPECT_EQ(LearnerHeard<Unknown>("lena").size(), 1u);
  LearnerSays("lena", RegisterLearner{});
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(LearnerHeard<AckCheckpoint>("lena").size(), 1u);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
}

TEST_F(LearningTest, ACheckpointThatIsReportedWhileTheDiskIsFullIsTakenWhenItIsReportedAgain) {
  Work();
  Do(StoreHealth{false, "disk full"});
  store_works = false;
  for (int i = 0; i < 100; ++i)
    LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_TRUE(pending.empty()) << "or its reports would pile up";
  store_works = true;
  Do(StoreHealth{true, ""});
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(LearnerHeard<AckCheckpoint>("lena").size(), 1u);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
}

TEST_F(LearningTest, TrainingATrajectoryTwiceIsAConservationError) {
  Work();
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(core->conservation_error(), 0);
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 2}, {1, 1}, Places(7, 9))));
  EXPECT_EQ(core->conservation_error(), 1);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 9);
}

TEST_F(LearningTest, AWorkerWithOldWeightsGetsTheAnnouncementFirstAndNoJobUntilItUsesThem) {
  Work();
  Says(kAnna, WeightsInUse{run, {1, 0}});
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  EXPECT_EQ(Heard<WeightsAnnouncement>(kAnna).size(), 1u);
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  Says(kAnna, WeightsInUse{run, {1, 1}});
  const AssignJob job = Assigned(kAnna);
  EXPECT_EQ(std::get<RolloutJob>(job.body).min_version, (PolicyVersion{1, 1}));
}

TEST_F(LearningTest, AWorkerThatKnowsNothingOfTheRunGetsOneJobToWaitWith) {
  Work();
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  Says(kAnna, Leaving{});
  Registers(kBert, 4);
  EXPECT_EQ(Heard<WeightsAnnouncement>(kBert).size(), 2u) << "on registration, and with the job";
  EXPECT_EQ(Heard<AssignJob>(kBert).size(), 1u);
}

TEST_F(LearningTest, AWorkerThatRefusesTheWeightsIsPassedOverWhileAnotherTakesThem) {
  Work();
  Registers(kBert, 4);
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  Says(kBert, WeightsInUse{run, {1, 1}});
  Says(kAnna, WeightsRefused{run, {1, 1}, "other families"});
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("1 of 2 workers refuse its weights 1.1"));
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  const auto jobs = Heard<AssignJob>(kBert);
  ASSERT_EQ(jobs.size(), 2u);
  Says(kBert, JobFailed{jobs[0].job, jobs[0].fence, InfrastructureKind::kInternal, "a hiccup"});
  Pass(seconds(1));
  EXPECT_EQ(Assigned(kBert).job, jobs[0].job) << "there is no elsewhere";

  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 2})));
  Says(kAnna, WeightsInUse{run, {1, 2}});
  EXPECT_EQ(StatusOf(run).problem, "");
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 2}, {1, 1}, Places(8, 16))));
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1u) << "newer ones it takes";
}

TEST_F(LearningTest, ARefusalThatIsSaidAgainTakesNoNewerWeightsFromAWorker) {
  Work();
  Registers(kBert, 4);
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 0})));
  Says(kAnna, WeightsInUse{run, {1, 0}});
  Says(kBert, WeightsRefused{run, {1, 0}, "a bad file"});
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  Says(kAnna, Leaving{});
  Registers(kBert, 4);  // whoever registers says both
  Says(kBert, WeightsInUse{run, {1, 1}});
  Says(kBert, WeightsRefused{run, {1, 0}, "a bad file"});
  EXPECT_TRUE(Heard<AssignJob>(kBert).empty());
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  EXPECT_EQ(Heard<AssignJob>(kBert).size(), 2u) << "not one alone, as who has no weights yet";
}

TEST_F(LearningTest, ARunWhoseWeightsEveryWorkerRefusesFailsAndSaysWhy) {
  Registers(kBert, 1);
  Work();
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  Says(kAnna, WeightsRefused{run, {1, 0}, "an older version"});
  Says(kBert, WeightsRefused{run, {1, 1}, "other families"});
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
  Says(kAnna, WeightsRefused{run, {1, 1}, "other families"});
  EXPECT_EQ(StatusOf(run).state, RunState::kFailed);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("other families"));
  EXPECT_EQ(core->conservation_error(), 0);
  Says(kAnna, WeightsRefused{run, {1, 1}, "said again"});
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("other families"));
}

TEST_F(LearningTest, WhatWorkersSaidOfARunGoesWithIt) {
  Registers(kBert, 1);
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  Says(kAnna, WeightsInUse{run, {1, 1}});
  Says(kBert, WeightsRefused{run, {1, 1}, "other families"});
  const Worker &anna = core->workers().all().at(kAnna), &bert = core->workers().all().at(kBert);
  EXPECT_EQ(anna.in_use.size() + bert.refused.size(), 2u);
  EXPECT_FALSE(anna.announced.empty());
  Ask(CancelRun{run});
  const auto nothing_is_kept = [&] {
    for (const Worker* worker : {&anna, &bert})
      EXPECT_TRUE(worker->in_use.empty() && worker->announced.empty() && worker->refused.empty());
  };
  nothing_is_kept();
  for (RunId other : {run, RunId(77)}) {  // they do not know yet, or tell what never was
    Says(kAnna, WeightsInUse{other, {1, 1}});
    Says(kBert, WeightsRefused{other, {1, 1}, "other families"});
  }
  nothing_is_kept();
}

TEST_F(LearningTest, AnOlderAnnouncementThatComesLateChangesNothing) {
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 2})));
  Heard<WeightsAnnouncement>(kAnna);
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 1})));
  EXPECT_TRUE(Heard<WeightsAnnouncement>(kAnna).empty());
  EXPECT_EQ(StatusOf(run).version, (PolicyVersion{1, 2}));
}

TEST_F(LearningTest, ANewLearnerGetsAStreamOfItsOwnWithEverythingAboveItsWatermark) {
  Work();
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  Done<OpenStream>();
  RegisterLearner registration;
  registration.runs = {{run, {8, {}}, {1, 1}}};
  LearnerJoins("lola", registration);
  const auto opened = Done<OpenStream>();
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_NE(opened[0].stream, stream);
  EXPECT_EQ(opened[0].base, 8u);
  EXPECT_GE(opened[0].end, 16u);
  EXPECT_EQ(LearnerHeard<TrainRun>("lola").at(0).stream, opened[0].stream);
}

TEST_F(LearningTest, ALearnerThatLostItsNewestCheckpointTrainsItsTrajectoriesAgain) {
  Work();
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  LearnerJoins("lola");  // it found no checkpoint at all
  EXPECT_EQ(StatusOf(run).trajectories_consumed, 0);
  EXPECT_EQ(core->runs().at(run).line.required(), (PolicyVersion{2, 0}));
  LearnerSays("lola", CheckpointDurable(Checkpoint(run, {2, 1}, {}, Places(0, 8))));
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
  EXPECT_EQ(core->conservation_error(), 0);
}

TEST_F(LearningTest, ALateRegistrationOfTheSameProcessUndoesNothing) {
  Work();
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  LearnerSays("lena", RegisterLearner{});  // the very first one, delayed
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
}

TEST_F(LearningTest, ARegistrationThatArrivesAfterItsProcessHasDiedReplacesNobodyAndUndoesNothing) {
  Work();
  LearnerJoins("lola");
  LearnerSays("lola", CheckpointDurable(Checkpoint(run, {2, 1}, {}, Places(0, 8))));
  LearnerSays("ghost", RegisterLearner{});
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
  LearnerSays("lola", Heartbeat{});
  EXPECT_TRUE(LearnerHeard<Refused>("lola").empty());
  Restart();
  LearnerSays("lola", RegisterLearner{});
  EXPECT_EQ(LearnerHeard<WelcomeLearner>("lola").back().incarnation, 2u);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 8);
}

TEST_F(LearningTest, APendingLearnerThatSpeaksAfterARestartRegistersAgainFirst) {
  LearnerSays("lola", RegisterLearner{});
  Restart();
  LearnerSays("lola", Heartbeat{});
  EXPECT_EQ(LearnerHeard<Unknown>("lola").size(), 1u);
  LearnerJoins("lola");
  EXPECT_EQ(LearnerHeard<TrainRun>("lola").size(), 1u);
}

TEST_F(LearningTest, ARunThatIsDrainedByAWatermarkWaitsForTheReportsOfItsFates) {
  Ask(CancelRun{run});
  Heard<AssignJob>(kAnna);
  RunSpec spec = GrammarSpec();
  spec.budget_evaluations = 8;
  run = Submit(spec, "short");
  Work();
  RegisterLearner registration;  // lena died before she could report
  registration.runs = {{run, {4, {}}, {1, 1}}};
  LearnerJoins("lola", registration);
  LearnerSays("lola", RunTrained{run, {2, 1}});
  EXPECT_EQ(StatusOf(run).state, RunState::kFinishing);
  LearnerSays("lola", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 4))));
  EXPECT_EQ(StatusOf(run).state, RunState::kComplete);
  EXPECT_EQ(StatusOf(run).trajectories_trained, 4);
}

TEST_F(LearningTest, ReportsThatWereLostWithTheirProcessAreNotWaitedForForEver) {
  Ask(CancelRun{run});
  Heard<AssignJob>(kAnna);
  RunSpec spec = GrammarSpec();
  spec.budget_evaluations = 8;
  run = Submit(spec, "short");
  Work();
  RegisterLearner registration;
  registration.runs = {{run, {4, {}}, {1, 1}}};
  LearnerJoins("lola", registration);
  for (int i = 0; i < 8; ++i) {
    LearnerSays("lola", RunTrained{run, {2, 1}});
    Pass(settings.repeat);
  }
  EXPECT_EQ(StatusOf(run).state, RunState::kComplete);
}

TEST_F(LearningTest, TrainRunIsRepeatedUntilTheLearnerSpeaksOfTheRun) {
  Pass(settings.repeat);
  EXPECT_EQ(LearnerHeard<TrainRun>("lena").size(), 1u);
  LearnerSays("lena", WeightsAnnouncement(Weights(run, {1, 0})));
  Pass(settings.repeat);
  EXPECT_TRUE(LearnerHeard<TrainRun>("lena").empty());
}

TEST_F(LearningTest, RedisAwayStopsAdmissionOfRunsThatLearnOnly) {
  Do(RedisHealth{false, "connection refused"});
  const int groups = Work();  // what was admitted before
  EXPECT_LT(groups, 4);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("connection refused"));
  Submit(RandomSpec(), "other");
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1u);
}

TEST_F(LearningTest, ARunEndsWhenItsLearnerHasConsumedEverythingUpToTheClosingPlace) {
  Ask(CancelRun{run});
  Heard<AssignJob>(kAnna);
  RunSpec spec = GrammarSpec();
  spec.budget_evaluations = 24;
  run = Submit(spec, "short");
  EXPECT_EQ(Work(), 3);
  EXPECT_EQ(StatusOf(run).state, RunState::kFinishing);
  EXPECT_EQ(LearnerHeard<CloseRun>("lena").at(0).end_seq, 12u);
  LearnerSays("lena", RunTrained{run, {1, 2}});  // before its last checkpoint has arrived
  EXPECT_EQ(StatusOf(run).state, RunState::kFinishing);
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 1}, {}, Places(0, 8))));
  LearnerSays("lena", CheckpointDurable(Checkpoint(run, {1, 2}, {1, 1}, Places(8, 12))));
  EXPECT_EQ(StatusOf(run).state, RunState::kComplete);
  EXPECT_GE(LearnerHeard<ForgetRun>("lena").size(), 1u);
  EXPECT_GE(Done<CloseStream>().size(), 1u);
}

TEST_F(LearningTest, CloseRunIsRepeatedAlsoToALearnerThatStartsAfterwards) {
  Ask(CancelRun{run});
  Heard<AssignJob>(kAnna);
  RunSpec spec = GrammarSpec();
  spec.budget_evaluations = 8;
  run = Submit(spec, "short");
  Work();
  EXPECT_EQ(LearnerHeard<CloseRun>("lena").size(), 1u);
  Pass(settings.repeat);
  EXPECT_EQ(LearnerHeard<CloseRun>("lena").size(), 1u);
  Restart();
  LearnerJoins("lola");
  EXPECT_EQ(LearnerHeard<CloseRun>("lola").at(0).end_seq, 4u);
}

TEST_F(LearningTest, AVersionOfTheNewestLearnerIsKnownAfterARestartBeforeItsFirstCheckpoint) {
  LearnerJoins("lola");
  Restart();
  LearnerJoins("lola");
  LearnerSays("lola", WeightsAnnouncement(Weights(run, {2, 0})));
  EXPECT_EQ(core->runs().at(run).line.newest(), (PolicyVersion{2, 0}));
}

TEST_F(LearningTest, ARunThatTheLearnerRefusesFailsAtOnceAndItsWorkIsCalledBack) {
  Heard<AssignJob>(kAnna);
  LearnerSays("lena", RunRefused{run, "no family fits"});
  EXPECT_EQ(StatusOf(run).state, RunState::kFailed);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("no family fits"));
  EXPECT_EQ(Heard<CancelJob>(kAnna).size(), 1u);
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  EXPECT_EQ(LearnerHeard<ForgetRun>("lena").size(), 1u);
  LearnerSays("lena", RunRefused{run, "no family fits"});  // sent before it heard
  EXPECT_EQ(LearnerHeard<ForgetRun>("lena").size(), 1u);
  EXPECT_EQ(core->conservation_error(), 0);
  Restart();
  EXPECT_EQ(StatusOf(run).state, RunState::kFailed);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("no family fits"));
}

TEST_F(LearningTest, ARefusalOfALearnerThatWasReplacedFailsNothing) {
  LearnerJoins("lola");
  LearnerSays("lena", RunRefused{run, "no family fits"});
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
}

TEST_F(LearningTest, ALearnerIsToldToForgetARunThatHasEnded) {
  Ask(CancelRun{run});
  LearnerHeard<ForgetRun>("lena");
  LearnerSays("lena", RunTrained{run, {1, 1}});
  EXPECT_EQ(LearnerHeard<ForgetRun>("lena").size(), 1u);
}

}  // namespace
}  // namespace warpsmith
