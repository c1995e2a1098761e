// Stories of one worker: registration, leases, episodes, evaluation jobs, the end.
#include "worker/core/testing_story.h"

namespace warpsmith {
namespace {

// ---- registration

TEST_F(WorkerStory, RegistersAgainUntilItIsWelcome) {
  EXPECT_EQ(Sent<RegisterWorker>().size(), 1u);
  Pass(20s);
  size_t tries = Sent<RegisterWorker>().size();
  EXPECT_GE(tries, 4u);
  EXPECT_LE(tries, 10u) << "the delays grow";
  Welcome();
  EXPECT_TRUE(core_.registered());
  size_t before = Sent<RegisterWorker>().size();
  Pass(3s);
  EXPECT_EQ(Sent<RegisterWorker>().size(), before);
  EXPECT_GE(Sent<Heartbeat>().size(), 3u);
}

TEST_F(WorkerStory, StopsWhenItIsRefused) {
  Hear(Refused{"protocol version 1 is too old"});
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->status, 2);
  EXPECT_NE(exit_->why.find("too old"), std::string::npos);
  EXPECT_TRUE(core_.Step(now_ + 1h, TimePassed{}).empty());
}

TEST_F(WorkerStory, NamesWhatItHoldsWhenTheCoordinatorRestarted) {
  Welcome();
  Assign(5, Rollout({0, 1}, 2));
  Hear(HeartbeatReply{.epoch = 2});
  auto registered = Sent<RegisterWorker>();
  ASSERT_EQ(registered.size(), 2u);
  ASSERT_EQ(registered[1].held.size(), 1u);
  EXPECT_EQ(registered[1].held[0], (HeldLease{JobId(5), {1, 1}}));

  Welcome({{JobId(5), {2, 2}}}, 2);
  PolicyActs();
  Judge(CorrectAt(2));
  Pass(1s);
  auto progress = Sent<Progress>();
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back().fence, (Fence{2, 2})) << "the job goes on under its new fence";
}

TEST(WorkerLanes, AHeldJobIsNamedWithItsLane) {
  WorkerCoreOptions options;
  options.devices = {DeviceFacts{}, DeviceFacts{}};
  options.policies = {"random"};
  WorkerCore core(options);
  TimePoint now{};
  core.Step(now, Started{});
  core.Step(now, Heard{WelcomeWorker{.epoch = 1, .heartbeat = 1s, .lease = 10s}});
  core.Step(now, Heard{AssignJob{.job = JobId(1),
                                 .fence = {1, 1},
                                 .device_index = 1,
                                 .total_deadline = 100s,
                                 .body = EvaluationJob{.candidates = {"a"}}}});
  std::vector<HeldLease> held;
  for (const auto& effect : core.Step(now, Heard{Unknown{}}))
    if (const auto* send = std::get_if<SendMessage>(&effect))
      if (const auto* offer = std::get_if<RegisterWorker>(&send->message)) held = offer->held;
  EXPECT_EQ(held, (std::vector<HeldLease>{{JobId(1), {1, 1}, 1}}));
}

TEST_F(WorkerStory, DropsAHeldJobThatIsNotAdopted) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  Hear(Unknown{});
  Welcome({}, 2);
  EXPECT_EQ(core_.jobs(), 0u);
  PolicyActs();
  EXPECT_TRUE(evaluate_.empty()) << "the policy's late answer is ignored";
}

TEST_F(WorkerStory, ASecondWelcomeDoesNotDropAJobGrantedSince) {
  Pass(2s);
  Welcome();
  Assign(5, Rollout({0}, 1));
  Welcome();
  EXPECT_EQ(core_.jobs(), 1u);
}

TEST_F(WorkerStory, FencesItselfAndKeepsFinishedResults) {
  Welcome();
  Assign(5, Rollout({0, 1}, 1));
  PolicyActs();
  Judge(CorrectAt(2));  // episode 0 is finished, 1 still runs
  Pass(11s);
  EXPECT_FALSE(core_.registered());
  EXPECT_EQ(core_.jobs(), 0u);
  EXPECT_EQ(core_.spooled(), 1u);
  EXPECT_TRUE(Sent<RegisterWorker>().back().held.empty());
  Judge(CorrectAt(2));  // too late: nobody waits for it
  EXPECT_EQ(core_.spooled(), 1u);

  sent_.clear();
  Welcome({}, 2);
  ASSERT_EQ(Sent<TrajectoryResult>().size(), 1u);
  EXPECT_EQ(Sent<TrajectoryResult>()[0].trajectory.id.episode, 0u);
  Hear(AckTrajectory{{RunId(3), GroupId(9), 0}});
  EXPECT_EQ(core_.spooled(), 0u);
}

// ---- rollouts

TEST_F(WorkerStory, RunsEpisodesSideBySide) {
  Welcome();
  Assign(5, Rollout({0, 1, 2}, 2));
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(std::get<ActRequest>(asked_[0]).episodes.size(), 3u) << "one batch for all";
  PolicyActs();
  EXPECT_EQ(evaluate_.size(), 3u);
  Judge(CorrectAt(2));
  ASSERT_EQ(asked_.size(), 1u) << "the first to be judged goes on while others wait";
  const auto& next = std::get<ActRequest>(asked_[0]);
  ASSERT_EQ(next.episodes.size(), 1u);
  ASSERT_EQ(next.episodes[0].turns.size(), 1u);
  EXPECT_DOUBLE_EQ(next.episodes[0].turns[0].reward, Reward(RewardKind::kHybrid, CorrectAt(2)));
  EXPECT_EQ(next.episodes[0].seed, MixSeed({77, 0, 1}));
}

TEST_F(WorkerStory, ReportsEachEpisodeWhenItEndsUntilAcknowledged) {
  Welcome();
  Assign(5, Rollout({4}, 2));
  PolicyActs();
  Judge(CompileError{"no"});
  PolicyActs();
  Judge(CorrectAt(4));
  auto results = Sent<TrajectoryResult>();
  ASSERT_EQ(results.size(), 1u);
  const Trajectory& trajectory = results[0].trajectory;
  EXPECT_EQ(trajectory.id, (TrajectoryId{RunId(3), GroupId(9), 4}));
  ASSERT_EQ(trajectory.turns.size(), 2u);
  EXPECT_LT(trajectory.turns[0].reward, 0);
  EXPECT_DOUBLE_EQ(trajectory.turns[1].reward, Reward(RewardKind::kHybrid, CorrectAt(4)));
  EXPECT_EQ(trajectory.finished_at_ms, 5);
  EXPECT_EQ(core_.jobs(), 1u) << "held until acknowledged";
  Hear(HeartbeatReply{1});
  Pass(5s);
  EXPECT_GE(Sent<TrajectoryResult>().size(), 2u) << "sent again";
  Hear(AckTrajectory{trajectory.id});
  EXPECT_EQ(core_.jobs(), 0u);
  size_t sent = Sent<TrajectoryResult>().size();
  Hear(HeartbeatReply{1});
  Pass(9s);
  EXPECT_EQ(Sent<TrajectoryResult>().size(), sent);
}

TEST_F(WorkerStory, TriesInfrastructureOnceMoreThenMasksTheTurn) {
  Welcome();
  Assign(5, Rollout({0}, 4));
  PolicyActs();
  std::string text = evaluate_.front().candidate;
  Judge(Infrastructure{InfrastructureKind::kTooNoisy, "noise"});
  ASSERT_EQ(evaluate_.size(), 1u);
  EXPECT_EQ(evaluate_.front().candidate, text);
  EXPECT_TRUE(Sent<TrajectoryResult>().empty());
  Judge(Infrastructure{InfrastructureKind::kTooNoisy, "noise"});
  auto results = Sent<TrajectoryResult>();
  ASSERT_EQ(results.size(), 1u);
  ASSERT_EQ(results[0].trajectory.turns.size(), 1u);
  EXPECT_EQ(results[0].trajectory.turns[0].reward, 0);
  EXPECT_TRUE(IsInfrastructure(results[0].trajectory.turns[0].evaluation.outcome));
}

TEST_F(WorkerStory, AGoodSecondTryCounts) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  PolicyActs();
  Judge(Infrastructure{InfrastructureKind::kInternal, "hiccup"});
  Judge(CorrectAt(2));
  ASSERT_EQ(Sent<TrajectoryResult>().size(), 1u);
  EXPECT_DOUBLE_EQ(Sent<TrajectoryResult>()[0].trajectory.turns[0].reward,
                   Reward(RewardKind::kHybrid, CorrectAt(2)));
}

TEST_F(WorkerStory, FailsTheJobWhenItsDeviceIsGoneAfterSendingWhatIsFinished) {
  Welcome();
  Assign(5, Rollout({0, 1}, 1));
  PolicyActs();
  Judge(CorrectAt(2));
  Judge(Infrastructure{InfrastructureKind::kDeviceLost, "fell off the bus"});
  Judge(Infrastructure{InfrastructureKind::kDeviceLost, "fell off the bus"});
  auto failed = Sent<JobFailed>();
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].job, JobId(5));
  EXPECT_EQ(Sent<TrajectoryResult>().size(), 1u);
  EXPECT_EQ(core_.jobs(), 0u);
  EXPECT_EQ(core_.spooled(), 1u);
}

TEST_F(WorkerStory, LeavesWhenJobAfterJobIsLostToItsDevices) {
  Welcome();
  for (uint64_t id = 1; id <= 5; ++id) {
    Assign(id, Rollout({0}, 1));
    PolicyActs();
    Judge(Infrastructure{InfrastructureKind::kDeviceSick, "xid 79"});
    Judge(Infrastructure{InfrastructureKind::kDeviceSick, "xid 79"});
  }
  EXPECT_EQ(Sent<JobFailed>().size(), 5u);
  EXPECT_EQ(Sent<Leaving>().size(), 1u);
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->status, 3);
}

TEST_F(WorkerStory, ACancelledJobIsForgotten) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  Hear(CancelJob{JobId(5), {1, 7}});
  EXPECT_EQ(core_.jobs(), 1u) << "another attempt's cancel";
  Hear(CancelJob{JobId(5), {1, 1}});
  EXPECT_EQ(core_.jobs(), 0u);
  PolicyActs();
  EXPECT_TRUE(evaluate_.empty());
}

TEST_F(WorkerStory, ACopyOfAGrantChangesNothingANewFenceStartsOver) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  PolicyActs();
  Assign(5, Rollout({0}, 1));
  EXPECT_EQ(evaluate_.size(), 1u);
  EXPECT_TRUE(asked_.empty());
  Assign(5, Rollout({0}, 1), 2);
  Judge(CorrectAt(2));  // of the old attempt
  EXPECT_TRUE(Sent<TrajectoryResult>().empty());
  PolicyActs();
  Judge(CorrectAt(2));
  ASSERT_EQ(Sent<TrajectoryResult>().size(), 1u);
  EXPECT_EQ(Sent<TrajectoryResult>()[0].fence, (Fence{1, 2}));
}

TEST_F(WorkerStory, AnEpisodeWhoseResultStillWaitsIsNotRunAgain) {
  Welcome();
  Assign(5, Rollout({0, 1}, 1));
  PolicyActs();
  Judge(CorrectAt(2));
  Judge(Infrastructure{InfrastructureKind::kDeviceLost, ""});
  Judge(Infrastructure{InfrastructureKind::kDeviceLost, ""});
  Assign(5, Rollout({0, 1}, 1), 2);
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(std::get<ActRequest>(asked_[0]).episodes.size(), 1u);
  PolicyActs();
  Judge(CorrectAt(2));
  EXPECT_EQ(core_.spooled(), 2u);
}

TEST_F(WorkerStory, AJobPastItsTotalDeadlineFails) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  for (int i = 0; i < 250; ++i) {
    Pass(4s);
    Hear(HeartbeatReply{1});
  }
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_NE(Sent<JobFailed>()[0].detail.find("deadline"), std::string::npos);
}

TEST_F(WorkerStory, RefusesWhatItCannotDo) {
  Welcome();
  RolloutJob job = Rollout({0}, 1);
  job.policy = "decoder";
  Assign(5, job);
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  Hear(AssignJob{.job = JobId(6),
                 .fence = {1, 1},
                 .device_index = 3,
                 .total_deadline = 9s,
                 .body = Rollout({0}, 1)});
  ASSERT_EQ(Sent<JobFailed>().size(), 2u);
  EXPECT_EQ(Sent<JobFailed>()[1].kind, InfrastructureKind::kDeviceLost);
}

// ---- evaluation jobs

TEST_F(WorkerStory, JudgesAListOfCandidates) {
  Welcome();
  EvaluationJob job{.candidates = std::vector<std::string>(20, "text")};
  Assign(5, job);
  EXPECT_EQ(evaluate_.size(), 8u) << "a bounded window";
  for (int i = 0; i < 20; ++i) Judge(CorrectAt(2));
  auto results = Sent<EvaluationResult>();
  ASSERT_EQ(results.size(), 20u);
  std::set<uint32_t> seen;
  for (const auto& result : results) seen.insert(result.index);
  EXPECT_EQ(seen.size(), 20u);
  for (uint32_t i = 0; i < 20; ++i) Hear(AckEvaluation{JobId(5), i});
  EXPECT_EQ(core_.jobs(), 0u);
}

TEST_F(WorkerStory, JobsTakeTurnsAtTheLane) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = std::vector<std::string>(20, "five")});
  Assign(6, EvaluationJob{.candidates = std::vector<std::string>(20, "six")});
  int six = 0;
  for (int i = 0; i < 16; ++i) {
    six += evaluate_.front().candidate == "six";
    Judge(CorrectAt(2));
  }
  EXPECT_GE(six, 4) << "a job does not stand still behind another";
}

TEST_F(WorkerStory, TheLaneIsBusyWithWorkThatWasDropped) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = std::vector<std::string>(20, "five")});
  Hear(CancelJob{JobId(5), {1, 1}});
  Assign(6, EvaluationJob{.candidates = {"six"}});
  EXPECT_EQ(evaluate_.size(), 8u);
  Judge(CorrectAt(2));
  EXPECT_EQ(evaluate_.back().candidate, "six");
  EXPECT_TRUE(Sent<EvaluationResult>().empty());
}

TEST_F(WorkerStory, ARetryReplacesAnInfrastructureResultAndKeepsAVerdict) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = {"a", "b"}});
  Judge(CorrectAt(2));
  for (int i = 0; i < 2; ++i) Judge(Infrastructure{InfrastructureKind::kTooNoisy, ""});
  EXPECT_EQ(core_.spooled(), 2u);
  Assign(5, EvaluationJob{.candidates = {"a", "b"}}, 2);
  ASSERT_EQ(evaluate_.size(), 1u);
  EXPECT_EQ(evaluate_.front().candidate, "b");
  sent_.clear();
  Judge(CorrectAt(3));
  ASSERT_EQ(Sent<EvaluationResult>().size(), 1u);
  EXPECT_DOUBLE_EQ(SpeedupOf(Sent<EvaluationResult>()[0].evaluation.outcome), 3);
}

TEST_F(WorkerStory, AnEvaluationThatStaysInfrastructureIsReportedAsThat) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = {"text"}});
  Judge(Infrastructure{InfrastructureKind::kTooNoisy, ""});
  Judge(Infrastructure{InfrastructureKind::kTooNoisy, ""});
  ASSERT_EQ(Sent<EvaluationResult>().size(), 1u);
  EXPECT_TRUE(IsInfrastructure(Sent<EvaluationResult>()[0].evaluation.outcome));
}

// ---- bounds and leaving

TEST_F(WorkerStory, ProgressIsBounded) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = std::vector<std::string>(16, "text")});
  for (int i = 0; i < 16; ++i) Judge(CorrectAt(2));
  EXPECT_EQ(Sent<Progress>().size(), 1u);
  Pass(1s);
  ASSERT_EQ(Sent<Progress>().size(), 2u);
  EXPECT_EQ(Sent<Progress>()[1].evaluations, 16u);
}

// The first evaluation of a task can take longer than a lease: the oracle looks at the task first.
TEST_F(WorkerStory, ALongEvaluationRenewsItsLeaseUntilItsLaneHangs) {
  Welcome();
  Assign(5, EvaluationJob{.candidates = {"a"}});
  Assign(6, EvaluationJob{.candidates = {"b"}});
  PassInTouch(60s);
  std::map<JobId, int> said;
  for (const Progress& progress : Sent<Progress>()) ++said[progress.job];
  for (uint64_t id : {5, 6}) {
    EXPECT_GE(said[JobId(id)], 60 / 10) << "one a lease time at least";
    EXPECT_LE(said[JobId(id)], 60) << "and not without end";
  }
  Judge(CorrectAt(2));  // the lane moves: the other goes on
  PassInTouch(350s);
  sent_.clear();
  PassInTouch(5s);
  EXPECT_FALSE(Sent<Progress>().empty());
  PassInTouch(20s);
  sent_.clear();
  PassInTouch(60s);
  EXPECT_TRUE(Sent<Progress>().empty()) << "past every limit of its supervisor it hangs";
}

TEST_F(WorkerStory, AJobThatCannotEvenBeginRenewsNothing) {
  Welcome();
  RolloutJob job = Rollout({0}, 1);
  job.min_version = {1, 1};
  Assign(5, job);  // and no weights are announced
  PassInTouch(60s);
  EXPECT_TRUE(Sent<Progress>().empty());
}

TEST_F(WorkerStory, AQuestionThatThePolicyThinksAboutRenewsTheLeasesOfAllThatWaitForIt) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  Assign(6, Rollout({1}, 1));
  PassInTouch(60s);
  std::map<JobId, int> said;
  for (const Progress& progress : Sent<Progress>()) ++said[progress.job];
  EXPECT_GE(said[JobId(5)], 6);
  EXPECT_GE(said[JobId(6)], 6);
  PassInTouch(360s);
  sent_.clear();
  PassInTouch(60s);
  EXPECT_TRUE(Sent<Progress>().empty());
}

TEST(WorkerSpoolLimit, AFullSpoolHoldsNewTurnsBack) {
  WorkerCoreOptions options;
  options.devices = {DeviceFacts{}};
  options.policies = {"random"};
  options.spool_limit = 1;
  WorkerCore core(options);
  TimePoint now{};
  core.Step(now, Started{});
  core.Step(now, Heard{WelcomeWorker{.epoch = 1, .heartbeat = 1s, .lease = 10s}});
  auto effects = core.Step(now, Heard{AssignJob{.job = JobId(1),
                                                .fence = {1, 1},
                                                .total_deadline = 100s,
                                                .body = EvaluationJob{.candidates = {"a"}}}});
  uint64_t id = 0;
  for (auto& e : effects)
    if (auto* ev = std::get_if<Evaluate>(&e)) id = ev->id;
  ASSERT_NE(id, 0u);
  core.Step(now, Evaluated{.id = id, .evaluation = {.outcome = CorrectAt(2)}});
  ASSERT_EQ(core.spooled(), 1u);
  auto begins = [](const WorkerEffects& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const auto& e) { return std::holds_alternative<Evaluate>(e); });
  };
  EXPECT_FALSE(
      begins(core.Step(now, Heard{AssignJob{.job = JobId(2),
                                            .fence = {1, 1},
                                            .total_deadline = 100s,
                                            .body = EvaluationJob{.candidates = {"b"}}}})));
  EXPECT_TRUE(begins(core.Step(now, Heard{AckEvaluation{JobId(1), 0}})));
}

TEST_F(WorkerStory, DrainsByFinishingWhatItHolds) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  PolicyActs();
  Happens(DrainRequested{60s});
  EXPECT_EQ(Sent<Leaving>().size(), 1u);
  Assign(6, Rollout({0}, 1));
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_EQ(Sent<JobFailed>()[0].kind, InfrastructureKind::kWorkerLost);
  Judge(CorrectAt(2));
  EXPECT_FALSE(exit_) << "the result is not acknowledged yet";
  Hear(AckTrajectory{{RunId(3), GroupId(9), 0}});
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->status, 0);
}

TEST_F(WorkerStory, HandsBackWhatItCannotFinishWithinTheGrace) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  Happens(DrainRequested{5s});
  Pass(6s);
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_EQ(Sent<JobFailed>()[0].job, JobId(5));
  ASSERT_TRUE(exit_);
  EXPECT_EQ(exit_->status, 0);
}

TEST(WorkerDeterminism, TheSameEventsGiveTheSameEffects) {
  auto play = [] {
    WorkerCoreOptions options;
    options.devices = {DeviceFacts{}};
    options.policies = {"random"};
    WorkerCore core(options);
    WorkerEffects all;
    TimePoint now{};
    Random random(11);
    std::vector<uint64_t> open;
    std::vector<ActRequest> asks;
    auto step = [&](WorkerEvent event) {
      for (auto& effect : core.Step(now, std::move(event))) {
        if (auto* e = std::get_if<Evaluate>(&effect)) open.push_back(e->id);
        if (auto* a = std::get_if<AskPolicy>(&effect)) {
          asks.push_back(std::get<ActRequest>(a->message));
        }
        all.push_back(std::move(effect));
      }
    };
    step(Started{});
    step(Heard{WelcomeWorker{.epoch = 1, .heartbeat = 1s, .lease = 10s}});
    for (uint64_t id = 1; id < 40; ++id) {
      RolloutJob job{.run = RunId(1),
                     .group = GroupId(id),
                     .policy = "random",
                     .episodes = {0, 1, 2},
                     .turns = 2,
                     .seed = id};
      step(Heard{AssignJob{.job = JobId(id), .fence = {1, 1}, .total_deadline = 50s, .body = job}});
      for (int i = 0; i < 12; ++i) {
        now += std::chrono::milliseconds(random.Below(300));
        if (!asks.empty()) {
          ActReply reply{.id = asks.back().id};
          reply.actions.resize(asks.back().episodes.size());
          asks.pop_back();
          step(PolicyReplied{reply});
        }
        if (!open.empty()) {
          size_t pick = random.Below(open.size());
          uint64_t chosen = open[pick];
          open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
          Outcome outcome = random.Chance(0.2)
                                ? Outcome(Infrastructure{InfrastructureKind::kTooNoisy, ""})
                                : CorrectAt(2);
          step(Evaluated{.id = chosen, .evaluation = {.outcome = outcome}});
        }
        if (random.Chance(0.1)) step(Heard{Unknown{}});
        if (random.Chance(0.5)) {
          step(Heard{WelcomeWorker{.epoch = 1, .heartbeat = 1s, .lease = 10s}});
        }
      }
    }
    return all;
  };
  WorkerEffects first = play();
  EXPECT_GT(first.size(), 500u);
  EXPECT_EQ(first, play());
}

}  // namespace
}  // namespace warpsmith
