// Stories of workers, leases, restarts and submissions.
#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "coordinator/core/testing_story.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// ---- workers and leases

TEST_F(CoordinatorTest, AReleaseThatIsTwoApartIsRefusedWithWhatToDo) {
  RegisterWorker offer;
  offer.protocol_version = kNewestProtocol + 1;
  offer.newest_protocol = kNewestProtocol + 2;
  Says(kAnna, offer);
  const auto refused = Heard<Refused>(kAnna);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].why, HasSubstr("the worker " + std::to_string(kNewestProtocol + 1)));
  EXPECT_THAT(refused[0].why, HasSubstr("one apart"));
}

TEST_F(CoordinatorTest, ReleasesThatAreOneApartSpeakWhatBothKnow) {
  RegisterWorker offer;
  offer.protocol_version = kNewestProtocol;  // the next release
  offer.newest_protocol = kNewestProtocol + 1;
  Says(kAnna, offer);
  offer.protocol_version = kOldestProtocol;  // the one before, which named one number only
  offer.newest_protocol = 0;
  Says(kBert, offer);
  EXPECT_EQ(Heard<WelcomeWorker>(kAnna).at(0).protocol, kNewestProtocol);
  EXPECT_EQ(Heard<WelcomeWorker>(kBert).at(0).protocol, kOldestProtocol);
}

TEST_F(CoordinatorTest, AWorkerWithAKindOfDeviceOfALaterReleaseIsToldSo) {
  RegisterWorker offer;
  offer.devices.push_back({.kind = static_cast<DeviceKind>(17)});
  Says(kAnna, offer);
  const auto refused = Heard<Refused>(kAnna);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0].why, HasSubstr("devices[0].kind (value 17) is of a later release"));
}

TEST_F(CoordinatorTest, AMessageOfALaterReleaseIsNotedAndChangesNothing) {
  Registers(kAnna);
  Says(kAnna, WorkerMessage(Unrecognized{.number = 99}));
  EXPECT_TRUE(Heard<Refused>(kAnna).empty());
  EXPECT_EQ(core->workers().all().size(), 1u);
}

TEST_F(CoordinatorTest, AWorkerThatClaimsToHoldAnyNumberOfJobsGetsAReasonableOne) {
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 1'000'000'000;
  Submit(spec);
  Registers(kAnna, std::numeric_limits<uint32_t>::max());
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1024u);
}

TEST_F(CoordinatorTest, AStrangerIsToldToRegisterWhateverItSays) {
  Says(kAnna, Heartbeat{});
  Says(kAnna, TrajectoryResult{});
  EXPECT_EQ(Heard<Unknown>(kAnna).size(), 2u);
  EXPECT_TRUE(Heard<AckTrajectory>(kAnna).empty());
}

TEST_F(CoordinatorTest, AGrantIsSentOnlyWhenItIsDurable) {
  Registers(kAnna);
  Submit(RandomSpec());
  Heard<AssignJob>(kAnna);
  store_works = false;
  Registers(kBert);
  EXPECT_TRUE(Heard<AssignJob>(kBert).empty());
  StoreCatchesUp();
  EXPECT_EQ(Heard<AssignJob>(kBert).size(), 1u);
}

TEST_F(CoordinatorTest, AResultIsAcknowledgedOnlyWhenItIsDurableAndSoIsItsCopy) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  store_works = false;
  Says(kAnna, Result(job, 0));
  Says(kAnna, Result(job, 0));
  EXPECT_TRUE(Heard<AckTrajectory>(kAnna).empty());
  StoreCatchesUp();
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), 2u);
}

TEST_F(CoordinatorTest, HeartbeatsDoNotRenewALeaseAndProgressDoes) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(3));
    Says(kAnna, Heartbeat{});
    if (i < 3) Says(kAnna, Progress{job.job, job.fence, 0});
  }
  EXPECT_TRUE(Heard<CancelJob>(kAnna).empty());
  for (int i = 0; i < 3; ++i) {
    Pass(seconds(3));
    Says(kAnna, Heartbeat{});
  }
  const auto cancelled = Heard<CancelJob>(kAnna);
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled[0].fence, job.fence);
}

TEST_F(CoordinatorTest, TheWorkOfAWorkerThatFellSilentMovesAndOnlyTheMissingEpisodes) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob first = Assigned(kAnna);
  Says(kAnna, Result(first, 1));
  Pass(seconds(5));
  Registers(kBert, 2);
  Heard<AssignJob>(kBert);  // the other group
  for (int i = 0; i < 3; ++i) {
    Pass(seconds(3));
    Says(kBert, Heartbeat{});
  }
  const auto moved = Heard<AssignJob>(kBert);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].job, first.job);
  EXPECT_EQ(std::get<RolloutJob>(moved[0].body).episodes, (std::vector<uint32_t>{0, 2, 3}));
  EXPECT_GT(moved[0].fence, first.fence);
  EXPECT_EQ(core->workers().all().size(), 1u);
}

TEST_F(CoordinatorTest, ATorpidWorkerGetsNothingNew) {
  Registers(kAnna);
  Pass(seconds(5));
  Submit(RandomSpec());
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  Says(kAnna, Heartbeat{});
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1u);
}

TEST_F(CoordinatorTest, ALeavingWorkerGetsNothingNewButItsResultsCount) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Says(kAnna, Leaving{});
  Finishes(kAnna, job);
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
}

TEST_F(CoordinatorTest, AFailedJobIsTriedElsewhereFirst) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Registers(kBert);
  Heard<AssignJob>(kBert);
  Says(kBert, Leaving{});  // is busy, and takes nothing new
  Says(kAnna, JobFailed{job.job, job.fence, InfrastructureKind::kDeviceSick, "xid 79"});
  Heard<AssignJob>(kAnna);
  Registers(WorkerId("carl"));
  Pass(seconds(1));
  EXPECT_EQ(Assigned(WorkerId("carl")).job, job.job);
}

TEST_F(CoordinatorTest, WithNobodyElseAFailedJobIsTriedAgainHereAfterABackOff) {
  Registers(kAnna);
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 8;
  Submit(spec);
  const AssignJob job = Assigned(kAnna);
  Says(kAnna, JobFailed{job.job, job.fence, InfrastructureKind::kInternal, "policy died"});
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  Pass(milliseconds(500));
  EXPECT_EQ(Assigned(kAnna).job, job.job);
}

TEST_F(CoordinatorTest, ARunWhosePolicyCannotWriteForATaskFailsWithTheReasonAndIsNotTriedAgain) {
  Registers(kAnna, 2);
  const RunId run = Submit(RandomSpec());
  const auto jobs = Heard<AssignJob>(kAnna);
  ASSERT_EQ(jobs.size(), 2u);
  const JobFailed refusal{jobs[0].job, jobs[0].fence, InfrastructureKind::kInternal,
                          "no family of the grammar can write small/copy", true};
  JobFailed late = refusal;
  late.fence.attempt = 7;
  Says(kAnna, late);
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning) << "of an attempt that is not in force";
  Says(kAnna, refusal);
  EXPECT_EQ(StatusOf(run).state, RunState::kFailed);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("can write small/copy"));
  EXPECT_EQ(StatusOf(run).infrastructure_evaluations, 0);
  EXPECT_EQ(core->jobs().counts(), (JobCounts{2, 0, 0, 0, 2}));
  Pass(seconds(5));
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
}

TEST_F(CoordinatorTest, AWorkerWhosePolicyCannotWriteForATaskIsPassedOverWhileAnotherCan) {
  Registers(kAnna, 2);
  const RunId run = Submit(RandomSpec());
  const auto jobs = Heard<AssignJob>(kAnna);
  ASSERT_EQ(jobs.size(), 2u);
  Registers(kBert, 2);
  const auto refuses = [&](const WorkerId& worker, const AssignJob& job) {
    Says(worker, JobFailed{job.job, job.fence, InfrastructureKind::kInternal,
                           "no policy `random` in this program", true});
  };
  refuses(kAnna, jobs[0]);
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning) << "her installation may be broken";
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("1 of 2 workers refuse its tasks (no policy"));
  const AssignJob moved = Assigned(kBert);
  EXPECT_EQ(moved.job, jobs[0].job);
  EXPECT_EQ(core->jobs().Find(moved.job)->failures, 0u) << "the job is not to blame";
  refuses(kAnna, jobs[1]);
  EXPECT_EQ(Assigned(kBert).job, jobs[1].job);
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  Finishes(kBert, moved);
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());

  const RunId second = Submit(RandomSpec(), "second");
  refuses(kAnna, Heard<AssignJob>(kAnna).at(0));
  refuses(kBert, Heard<AssignJob>(kBert).at(0));
  EXPECT_EQ(StatusOf(second).state, RunState::kFailed) << "nobody can";
  EXPECT_THAT(StatusOf(second).problem, HasSubstr("no policy `random`"));
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
}

TEST_F(CoordinatorTest, AJobThatKillsEveryWorkerIsGivenUpMaskedAndCountedAndTheRunGoesOn) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  AssignJob job = Assigned(kAnna);
  const JobId poison = job.job;
  Says(kAnna, Result(job, 2));  // this attempt is not counted: it brought something
  for (int failures = 0; failures < 4; ++failures) {
    EXPECT_EQ(job.job, poison);
    Says(kAnna, JobFailed{job.job, job.fence, InfrastructureKind::kDeviceLost, "gone"});
    if (failures == 3) break;
    auto next = Heard<AssignJob>(kAnna);
    while (next.empty()) {
      Pass(milliseconds(100));
      Says(kAnna, Heartbeat{});
      next = Heard<AssignJob>(kAnna);
    }
    if (next[0].job != poison) {
      Finishes(kAnna, next[0]);
      next = Heard<AssignJob>(kAnna);
      while (next.empty()) {
        Pass(milliseconds(100));
        Says(kAnna, Heartbeat{});
        next = Heard<AssignJob>(kAnna);
      }
    }
    job = next[0];
  }
  const RunStatus status = StatusOf(run);
  EXPECT_EQ(status.infrastructure_evaluations, 6);
  EXPECT_EQ(status.trajectories_accepted, 5);
  EXPECT_EQ(status.state, RunState::kComplete);
  EXPECT_EQ(core->conservation_error(), 0);
}

TEST_F(CoordinatorTest, ALateResultOfAnOldAttemptWinsWhenItIsFirstAndStopsTheOther) {
  Registers(kAnna);
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 8;
  const RunId run = Submit(spec);
  const AssignJob old = Assigned(kAnna);
  Registers(kBert);
  for (int i = 0; i < 3; ++i) {
    Pass(seconds(4));
    Says(kBert, Heartbeat{});
  }
  const AssignJob current = Assigned(kBert);
  Says(kBert, Result(current, 0));
  Registers(kAnna);  // it was thought dead
  Finishes(kAnna, old);
  EXPECT_EQ(Heard<CancelJob>(kBert).size(), 1u);
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
  EXPECT_EQ(StatusOf(run).state, RunState::kComplete);
  Says(kBert, Result(current, 1));
  EXPECT_EQ(Heard<AckTrajectory>(kBert).size(), 2u) << "the copy is acknowledged, too";
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
}

TEST_F(CoordinatorTest, AResultThatCannotBeIsRefusedAndCounted) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  TrajectoryResult empty = Result(job, 0);
  empty.trajectory.turns.clear();
  Says(kAnna, empty);
  TrajectoryResult beyond = Result(job, 0);
  beyond.trajectory.id.episode = 99;
  Says(kAnna, beyond);
  TrajectoryResult other = Result(job, 0);
  other.trajectory.task = TaskId("small/none");
  Says(kAnna, other);
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 0);
}

TEST_F(CoordinatorTest, NumbersThatAreNoneReachNeitherTheStoreNorALearner) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Registers(kAnna, 2);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Heard<AssignJob>(kAnna).at(0);
  const std::vector<std::function<void(Turn&)>> spoilt = {
      [](Turn& turn) { turn.reward = kNaN; },
      [](Turn& turn) { turn.reward = std::numeric_limits<double>::infinity(); },
      [](Turn& turn) {
        turn.evaluation.outcome = Correct{{}, kNaN};
      },
      [](Turn& turn) {
        turn.evaluation.outcome = Correct{{}, -1};
      },
  };
  for (const auto& spoil : spoilt) {
    TrajectoryResult result = Result(job, 0);
    spoil(result.trajectory.turns[1]);
    Says(kAnna, result);
  }
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 0);
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), spoilt.size()) << "nobody wants them again";

  EvaluationJob body{.task = SmallSuite().tasks[0], .candidates = {"a"}};
  Ask(SubmitEvaluation{"e", body, "auto"});
  Registers(kBert);
  const AssignJob judged = Assigned(kBert);
  Evaluation record;
  record.outcome = Correct{{}, kNaN};
  Says(kBert, EvaluationResult{judged.job, judged.fence, 0, record});
  EXPECT_EQ(core->jobs().Find(judged.job)->missing, 1u);
}

TEST_F(CoordinatorTest, AGroupEndsAtItsDeadlineWithWhatItHas) {
  settings.group_deadline = seconds(30);
  Restart();
  Registers(kAnna);
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 8;
  const RunId run = Submit(spec);
  const AssignJob job = Assigned(kAnna);
  Says(kAnna, Result(job, 0));
  for (int i = 0; i < 11; ++i) {
    Pass(seconds(3));
    Says(kAnna, Heartbeat{});
    Says(kAnna, Progress{job.job, job.fence, 0});
  }
  EXPECT_EQ(StatusOf(run).state, RunState::kComplete);
  EXPECT_EQ(StatusOf(run).infrastructure_evaluations, 6);
}

TEST_F(CoordinatorTest, WorkIsSharedFairlyBetweenRuns) {
  Registers(kAnna, 4);
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 1000;
  const RunId first = Submit(spec, "1");
  Registers(kBert, 4);
  const RunId second = Submit(spec, "2");
  Heard<AssignJob>(kBert);
  auto jobs = Heard<AssignJob>(kAnna);
  for (int i = 0; i < 8; ++i) {
    Finishes(kAnna, jobs[static_cast<size_t>(i)]);
    for (auto& job : Heard<AssignJob>(kAnna)) jobs.push_back(job);
  }
  EXPECT_EQ(core->jobs().LeasedOf(first), 4);
  EXPECT_EQ(core->jobs().LeasedOf(second), 4);
}

// ---- restarts

TEST_F(CoordinatorTest, AfterARestartAHeldLeaseIsAdoptedWithANewFenceAndGoesOn) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Says(kAnna, Result(job, 0));
  Restart();
  Says(kAnna, Progress{job.job, job.fence, 1});
  EXPECT_EQ(Heard<Unknown>(kAnna).size(), 1u);
  Heard<WelcomeWorker>(kAnna);
  Registers(kAnna, 1, {{job.job, job.fence}});
  const auto welcome = Heard<WelcomeWorker>(kAnna);
  ASSERT_EQ(welcome.size(), 1u);
  EXPECT_EQ(welcome[0].epoch, 2u);
  ASSERT_EQ(welcome[0].adopted.size(), 1u);
  EXPECT_GT(welcome[0].adopted[0].fence, job.fence);
  AssignJob adopted = job;
  adopted.fence = welcome[0].adopted[0].fence;
  for (uint32_t episode : {1, 2, 3}) Says(kAnna, Result(adopted, episode));
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
  EXPECT_EQ(core->conservation_error(), 0);
}

TEST_F(CoordinatorTest, AnAdoptionWhoseWordWasLostIsTheSameWhenTheWorkerRegistersAgain) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Heard<WelcomeWorker>(kAnna);
  Restart();
  Registers(kAnna, 1, {{job.job, job.fence}});
  const HeldLease first = Heard<WelcomeWorker>(kAnna).at(0).adopted.at(0);
  Registers(kAnna, 1, {{job.job, job.fence}});
  const auto again = Heard<WelcomeWorker>(kAnna).at(0).adopted;
  ASSERT_EQ(again.size(), 1u) << "it would drop its work, and the job wait for its lease to end";
  EXPECT_EQ(again[0], first);
  Registers(kAnna, 1, {{job.job, {first.fence.epoch, first.fence.attempt + 1}}});
  EXPECT_TRUE(Heard<WelcomeWorker>(kAnna).at(0).adopted.empty()) << "a fence that was never given";
}

TEST_F(CoordinatorTest, AnAdoptedLeaseCountsAtItsOwnLane) {
  RegisterWorker offer;
  DeviceFacts facts;
  facts.kind = DeviceKind::kHost;
  offer.devices = {facts, facts};
  offer.policies = {"random"};
  offer.capacity = 2;
  Says(kAnna, offer);
  Submit(RandomSpec());
  const auto jobs = Heard<AssignJob>(kAnna);
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(jobs[1].device_index, 1);
  Says(kAnna, JobFailed{jobs[0].job, jobs[0].fence, InfrastructureKind::kInternal, "a hiccup"});
  Restart();
  offer.held = {HeldLease{jobs[1].job, jobs[1].fence, jobs[1].device_index}};
  Says(kAnna, offer);
  EXPECT_EQ(core->leases().Find(jobs[1].job)->device_index, 1);
  EXPECT_EQ(Assigned(kAnna).device_index, 0) << "the lane that is free";
}

TEST_F(CoordinatorTest, ALeaseThatNobodyComesBackForIsQueuedAfterALeaseTimeWithoutBlame) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Restart();
  EXPECT_EQ(core->jobs().counts().leased, 1);
  Registers(kBert, 4);
  for (const AssignJob& other : Heard<AssignJob>(kBert)) EXPECT_NE(other.job, job.job);
  for (int i = 0; i < 4; ++i) {
    Pass(seconds(3));
    Says(kBert, Heartbeat{});
  }
  const auto moved = Heard<AssignJob>(kBert);
  EXPECT_TRUE(std::any_of(moved.begin(), moved.end(), [&](const AssignJob& assigned) {
    return assigned.job == job.job && assigned.fence == Fence{2, 2};
  }));
  EXPECT_EQ(core->jobs().Find(job.job)->failures, 0u);
}

TEST_F(CoordinatorTest, WhatWasNotDurableDidNotHappen) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  store_works = false;
  Says(kAnna, Result(job, 0));
  store_works = true;
  Restart();
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 0);
  Registers(kAnna, 1, {{job.job, job.fence}});
  Says(kAnna, Result(job, 0));  // it was never acknowledged, so it comes again
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 1);
}

TEST_F(CoordinatorTest, ALeaseAdoptedByTheFirstIsNotAdoptedByASecond) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Restart();
  Registers(kAnna, 1, {{job.job, job.fence}});
  Registers(kBert, 1, {{job.job, job.fence}});
  EXPECT_TRUE(Heard<WelcomeWorker>(kBert).at(0).adopted.empty());
}

// ---- submissions

TEST_F(CoordinatorTest, TheSameKeyIsTheSameRunAlsoAfterARestart) {
  const RunId run = Submit(RandomSpec());
  EXPECT_EQ(Submit(RandomSpec()), run);
  Restart();
  EXPECT_EQ(Submit(RandomSpec()), run);
  EXPECT_NE(Submit(RandomSpec(), "another"), run);
}

TEST_F(CoordinatorTest, ASubmissionIsAnsweredOnlyWhenItIsDurable) {
  store_works = false;
  Do(ClientAsked{ClientId("client"), {7, SubmitRun{"key", RandomSpec()}}});
  EXPECT_TRUE(Done<AnswerClient>().empty());
  StoreCatchesUp();
  const auto answers = Done<AnswerClient>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.id, 7u);
}

TEST_F(CoordinatorTest, AFullDiskKeepsNobodyFromLearningOfItAndPromisesNothing) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  store_works = false;
  Finishes(kAnna, Assigned(kAnna));  // waits for the store
  Do(StoreHealth{false, "disk full"});
  EXPECT_THAT(std::get<ClusterStatus>(Ask(GetCluster{})).problem, HasSubstr("disk full"));
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("disk full"));
  EXPECT_EQ(std::get<RequestFailed>(Ask(SubmitRun{"new", RandomSpec()})).code, "exhausted");
  EXPECT_EQ(std::get<RequestFailed>(Ask(CancelRun{run})).code, "exhausted");
  EXPECT_EQ(StatusOf(run).state, RunState::kRunning);
  // What is durable can be looked at.
  Done<QueryStore>();
  Do(ClientAsked{ClientId("client"), {7, GetBest{run}}});
  Do(ClientAsked{ClientId("client"), {8, GetHistory{run}}});
  EXPECT_EQ(Done<QueryStore>().size(), 2u);
}

TEST_F(CoordinatorTest, ACancellationIsAnsweredWhenItWillLast) {
  const RunId run = Submit(RandomSpec());
  store_works = false;
  Done<AnswerClient>();
  Do(ClientAsked{ClientId("client"), {7, CancelRun{run}}});
  Do(StoreHealth{false, "disk full"});
  Do(ClientAsked{ClientId("client"), {7, CancelRun{run}}});  // asked again
  EXPECT_TRUE(Done<AnswerClient>().empty());
  StoreCatchesUp();
  EXPECT_EQ(Done<AnswerClient>().size(), 2u);
}

TEST_F(CoordinatorTest, AFullDiskStopsAdmissionWithAClearStateAndNothingIsLost) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Do(StoreHealth{false, "disk full"});
  store_works = false;
  Finishes(kAnna, job);
  EXPECT_TRUE(Heard<AssignJob>(kAnna).empty());
  EXPECT_THAT(core->Cluster(now).problem, HasSubstr("disk full"));
  Do(ClientAsked{ClientId("client"), {8, SubmitRun{"other", RandomSpec()}}});
  Do(StoreHealth{true, ""});
  StoreCatchesUp();
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), 4u);
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1u);
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 4);
  EXPECT_EQ(core->runs().size(), 1u) << "the submission was refused, to be repeated";
}

TEST_F(CoordinatorTest, WhatIsSaidAgainAndAgainWhileTheDiskIsFullDoesNotPileUp) {
  Registers(kAnna);
  Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  Do(StoreHealth{false, "disk full"});
  store_works = false;
  for (int i = 0; i < 100; ++i) Says(kAnna, Result(job, 0));
  Do(StoreHealth{true, ""});
  StoreCatchesUp();
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), 1u);
  Says(kAnna, Result(job, 0));
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), 1u) << "afterwards a copy is acknowledged, too";
}

TEST_F(CoordinatorTest, CancellingARunCallsItsWorkBackAndForgetsLateResults) {
  Registers(kAnna);
  const RunId run = Submit(RandomSpec());
  const AssignJob job = Assigned(kAnna);
  EXPECT_EQ(std::get<RunStatus>(Ask(CancelRun{run})).state, RunState::kCancelled);
  EXPECT_EQ(Heard<CancelJob>(kAnna).size(), 1u);
  Says(kAnna, Result(job, 0));
  EXPECT_EQ(Heard<AckTrajectory>(kAnna).size(), 1u);
  EXPECT_EQ(StatusOf(run).trajectories_accepted, 0);
  EXPECT_EQ(core->jobs().counts(), (JobCounts{1, 0, 0, 0, 1}));
}

TEST_F(CoordinatorTest, TheDeviceIsTheBestOfTheFleetAtTheFirstGrantAndStays) {
  Registers(kAnna);
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 1000;
  const RunId run = Submit(spec);
  EXPECT_EQ(StatusOf(run).device, "host");
  RegisterWorker cuda;
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  cuda.devices = {facts};
  cuda.policies = {"random"};
  Says(kBert, cuda);
  EXPECT_TRUE(Heard<AssignJob>(kBert).empty());
  EXPECT_EQ(StatusOf(run).device, "host");
}

TEST_F(CoordinatorTest, ARunGetsTheBestDeviceThatItsTasksHaveTrainCasesFor) {
  RegisterWorker cuda;
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  cuda.devices = {facts};
  cuda.policies = {"random"};
  Says(kBert, cuda);
  RunSpec spec = RandomSpec();
  for (Task& task : spec.suites[0].tasks) task.cuda_cases.clear();
  const RunId run = Submit(spec);
  EXPECT_THAT(StatusOf(run).problem, HasSubstr("train cases"));
  Registers(kAnna);
  EXPECT_EQ(Heard<AssignJob>(kAnna).size(), 1u);
  EXPECT_EQ(StatusOf(run).device, "host");
}

TEST_F(CoordinatorTest, EvaluationJobsGiveOneResultACandidateAndInfrastructureIsTriedElsewhere) {
  Registers(kAnna);
  EvaluationJob body{.task = SmallSuite().tasks[0], .candidates = {"a", "b"}};
  const auto accepted = Ask(SubmitEvaluation{"e", body, "auto"});
  const JobId id = std::get<JobAccepted>(accepted).job;
  const AssignJob job = Assigned(kAnna);
  Registers(kBert);
  Says(kAnna, EvaluationResult{job.job, job.fence, 0, Evaluation{}});  // infrastructure
  Evaluation good;
  good.outcome = Correct{};
  Says(kAnna, EvaluationResult{job.job, job.fence, 1, good});
  EXPECT_EQ(Heard<AckEvaluation>(kAnna).size(), 2u);
  const AssignJob again = Assigned(kBert);
  EXPECT_EQ(again.job, id);
  Says(kBert, EvaluationResult{again.job, again.fence, 0, good});
  EXPECT_EQ(core->jobs().counts().finished, 1);
}

TEST_F(CoordinatorTest, ALateResultOfAnAttemptThatFailedCountsThoughAllElseOfItWasInfrastructure) {
  Registers(kAnna);
  const EvaluationJob body{.task = SmallSuite().tasks[0], .candidates = {"a", "b"}};
  Ask(SubmitEvaluation{"e", body, "auto"});
  const AssignJob job = Assigned(kAnna);
  Says(kAnna, EvaluationResult{job.job, job.fence, 0, Evaluation{}});
  Says(kAnna, JobFailed{job.job, job.fence, InfrastructureKind::kDeviceSick, "xid 79"});
  Evaluation good;
  good.outcome = Correct{};
  Says(kAnna, EvaluationResult{job.job, job.fence, 1, good});  // overtaken by the word of failure
  EXPECT_EQ(core->jobs().Find(job.job)->missing, 1u);
  Pass(seconds(1));
  const AssignJob again = Assigned(kAnna);
  Says(kAnna, EvaluationResult{again.job, again.fence, 0, good});
  EXPECT_EQ(core->jobs().counts().finished, 1);
}

TEST_F(CoordinatorTest, AnEvaluationJobGoesWhereItsTaskHasACaseAndSaysWhatItWaitsFor) {
  RegisterWorker cuda;
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  cuda.devices = {facts};
  Says(kBert, cuda);
  EvaluationJob body{.task = SmallSuite().tasks[0], .candidates = {"a"}};
  body.task.cuda_cases.clear();
  const JobId id = std::get<JobAccepted>(Ask(SubmitEvaluation{"e", body, "auto"})).job;
  EXPECT_TRUE(Heard<AssignJob>(kBert).empty()) << "no oracle would admit it there";
  Do(ClientAsked{ClientId("client"), {1, GetJob{id}}});
  EXPECT_THAT(Done<QueryStore>().at(0).job_problem,
              HasSubstr("of kind host, for task small/copy has cases"));
  Registers(kAnna);
  EXPECT_EQ(Assigned(kAnna).job, id);
}

}  // namespace
}  // namespace warpsmith
