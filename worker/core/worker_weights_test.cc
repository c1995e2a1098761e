// Stories of one worker with its policy and the weights that it pulls.
#include "worker/core/testing_story.h"

namespace warpsmith {
namespace {

// ---- the policy and its weights

TEST_F(WorkerStory, JobsTakeTurnsAtThePolicy) {
  Welcome();
  Assign(1, Rollout({0, 1}, 8));
  RolloutJob other = Rollout({0}, 8);
  other.group = GroupId(10);
  Assign(2, other);
  EXPECT_EQ(asked_.size(), 1u) << "one question at a time";
  PolicyActs();
  Judge(CorrectAt(1));
  ASSERT_EQ(asked_.size(), 1u);
  PolicyActs();  // job 2, though job 1 waits as well
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(std::get<ActRequest>(asked_[0]).episodes[0].turns.size(), 1u);
}

TEST_F(WorkerStory, APolicyThatCannotActFailsTheJobWithItsReason) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  uint64_t id = std::get<ActRequest>(asked_.front()).id;
  Happens(PolicyReplied{ActReply{.id = id, .problem = "no family fits s/t"}});
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_NE(Sent<JobFailed>()[0].detail.find("no family fits"), std::string::npos);
  EXPECT_TRUE(Sent<JobFailed>()[0].policy_refuses) << "it need not try again here";
}

TEST_F(WorkerStory, AsksAgainWhenThePolicyDiesAndGivesTheJobUpAfterThree) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  for (int death = 0; death < 3; ++death) {
    ASSERT_EQ(asked_.size(), 1u);
    asked_.clear();
    Happens(PolicyLost{"signal 9"});
  }
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_FALSE(Sent<JobFailed>()[0].policy_refuses);
  EXPECT_TRUE(asked_.empty());
}

WeightsAnnouncement Version(uint64_t step) {
  return {.run = RunId(3),
          .version = {1, step},
          .endpoint = "tcp://here:1",
          .size_bytes = 10,
          .chunk_bytes = 4,
          .sha256 = "ab"};
}

TEST_F(WorkerStory, WaitsForTheWeightsThatAJobNeeds) {
  Welcome();
  RolloutJob job = Rollout({0}, 1);
  job.min_version = {1, 5};
  Assign(5, job);
  EXPECT_TRUE(asked_.empty());
  Hear(Version(5));
  ASSERT_EQ(pulls_.size(), 1u);
  Hear(Version(5));
  EXPECT_EQ(pulls_.size(), 1u) << "one pull at a time";
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  ASSERT_EQ(asked_.size(), 1u);
  auto load = std::get<LoadWeights>(asked_[0]);
  EXPECT_EQ(load.path, "/w/5");
  EXPECT_TRUE(Sent<WeightsInUse>().empty());
  asked_.clear();
  Happens(PolicyReplied{WeightsLoaded{.id = load.id, .run = RunId(3), .version = {1, 5}}});
  ASSERT_EQ(Sent<WeightsInUse>().size(), 1u);
  ASSERT_EQ(asked_.size(), 1u) << "now it may act";
  PolicyActs({1, 5});
  EXPECT_EQ(evaluate_.size(), 1u);
}

TEST_F(WorkerStory, WeightsOnDiskCountBeforeTheFirstJobTellsThePolicy) {
  Welcome();
  Hear(Version(5));
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  ASSERT_EQ(Sent<WeightsInUse>().size(), 1u);
  EXPECT_TRUE(asked_.empty());
  RolloutJob job = Rollout({0}, 1);
  job.min_version = {1, 5};
  Assign(5, job);
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LoadWeights>(asked_[0]));
}

TEST_F(WorkerStory, LoadsBetweenTurnsAndNeverGoesBack) {
  Welcome();
  Assign(5, Rollout({0}, 4));
  Hear(Version(6));
  Happens(WeightsPulled{RunId(3), {1, 6}, "/w/6"});
  ASSERT_EQ(asked_.size(), 1u) << "the act is still out";
  PolicyActs();
  ASSERT_EQ(asked_.size(), 1u);
  auto load = std::get<LoadWeights>(asked_[0]);
  asked_.clear();
  Happens(PolicyReplied{WeightsLoaded{.id = load.id, .run = RunId(3), .version = {1, 6}}});
  pulls_.clear();
  Hear(Version(4));
  EXPECT_TRUE(pulls_.empty()) << "an older announcement";
  EXPECT_EQ(Sent<WeightsInUse>().back().version, (PolicyVersion{1, 6})) << "told once more";
}

TEST_F(WorkerStory, AFreshPolicyIsGivenItsWeightsAgain) {
  Welcome();
  RolloutJob job = Rollout({0}, 4);
  job.min_version = {1, 5};
  Assign(5, job);
  Hear(Version(5));
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  Happens(PolicyReplied{WeightsLoaded{
      .id = std::get<LoadWeights>(asked_.front()).id, .run = RunId(3), .version = {1, 5}}});
  asked_.clear();
  Happens(PolicyLost{"signal 11"});
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LoadWeights>(asked_[0]));
}

TEST_F(WorkerStory, APolicyThatForgotItsWeightsLoadsThemBeforeItIsAskedAgain) {
  Welcome();
  RolloutJob job = Rollout({0}, 4);
  job.min_version = {1, 5};
  Assign(5, job);
  Hear(Version(5));
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  Happens(PolicyReplied{WeightsLoaded{
      .id = std::get<LoadWeights>(asked_.front()).id, .run = RunId(3), .version = {1, 5}}});
  asked_.pop_front();
  PolicyActs({0, 0});
  EXPECT_TRUE(evaluate_.empty());
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<LoadWeights>(asked_[0]));
}

TEST_F(WorkerStory, PullsAgainAfterAFailedPullOrLoad) {
  Welcome();
  Assign(5, Rollout({0}, 1));
  asked_.clear();
  Hear(Version(5));
  Happens(WeightsPullFailed{RunId(3), {1, 5}, "sha256 does not match"});
  EXPECT_EQ(pulls_.size(), 1u);
  Pass(3s);
  ASSERT_EQ(pulls_.size(), 2u);
  Happens(PolicyLost{"so that nothing is out"});
  asked_.clear();
  Happens(PolicyLost{""});
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  asked_.clear();
  Happens(PolicyLost{""});
  ASSERT_FALSE(asked_.empty());
  auto load = std::get<LoadWeights>(asked_.back());
  Happens(PolicyReplied{WeightsLoaded{
      .id = load.id, .run = RunId(3), .version = {1, 5}, .problem = "not a safetensors file"}});
  Pass(3s);
  EXPECT_EQ(pulls_.size(), 3u);
}

// ---- weights that the policy does not take

class WorkerRefuses : public WorkerStory {
 protected:
  WorkerRefuses() {
    Welcome();
    Assign(5, Needing({1, 5}));
    Hear(Version(5));
  }
  static RolloutJob Needing(PolicyVersion version) {
    RolloutJob job = Rollout({0}, 1);
    job.min_version = version;
    return job;
  }
  // The policy answers the load that it was asked for.
  void PolicyLoads(const std::string& problem = {}) {
    ASSERT_EQ(asked_.size(), 1u);
    auto load = std::get<LoadWeights>(asked_.front());
    asked_.pop_front();
    Happens(PolicyReplied{WeightsLoaded{
        .id = load.id, .run = load.run, .version = load.version, .problem = problem}});
  }
  // Pulled and refused until the worker asks for no other copy.
  void RefusesEveryCopy(PolicyVersion version) {
    while (!pulls_.empty()) {
      ASSERT_LT(++copies_, 10) << "it pulls without end";
      pulls_.pop_front();
      Happens(WeightsPulled{RunId(3), version, "/w/" + ToString(version)});
      PolicyLoads("made for other families");
      Hear(HeartbeatReply{1});
      Pass(3s);
    }
  }
  int copies_ = 0;
};

TEST_F(WorkerRefuses, EveryCopyIsRefusedThenItSaysSoAndGivesTheJobBack) {
  RefusesEveryCopy({1, 5});
  EXPECT_EQ(copies_, 3) << "the file of the first may have been bad";
  ASSERT_EQ(Sent<WeightsRefused>().size(), 1u);
  EXPECT_EQ(Sent<WeightsRefused>()[0],
            (WeightsRefused{RunId(3), {1, 5}, "made for other families"}));
  ASSERT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_NE(Sent<JobFailed>()[0].detail.find("made for other families"), std::string::npos);
  EXPECT_FALSE(Sent<JobFailed>()[0].policy_refuses) << "another worker's policy may take them";
  EXPECT_TRUE(Sent<WeightsInUse>().empty());
  EXPECT_EQ(core_.jobs(), 0u);
}

TEST_F(WorkerRefuses, ItSaysSoAgainToWhoeverMayNotHaveHeard) {
  RefusesEveryCopy({1, 5});
  Hear(Version(5));
  EXPECT_EQ(Sent<WeightsRefused>().size(), 2u);
  EXPECT_TRUE(pulls_.empty());
  Hear(Unknown{});
  Welcome({}, 2);
  EXPECT_EQ(Sent<WeightsRefused>().size(), 3u);
  Assign(5, Needing({1, 5}), 2);
  EXPECT_EQ(Sent<JobFailed>().size(), 2u) << "at once: nothing is left to wait for";
}

TEST_F(WorkerRefuses, NewerWeightsAreTriedAgain) {
  RefusesEveryCopy({1, 5});
  Hear(Version(6));
  ASSERT_EQ(pulls_.size(), 1u);
  Assign(5, Needing({1, 5}), 2);
  EXPECT_EQ(Sent<JobFailed>().size(), 1u) << "it waits for them";
  Happens(WeightsPulled{RunId(3), {1, 6}, "/w/6"});
  PolicyLoads();
  PolicyActs({1, 6});
  EXPECT_EQ(evaluate_.size(), 1u);
}

TEST_F(WorkerRefuses, WhatItHasGoesOnWorking) {
  pulls_.clear();
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  PolicyLoads();
  PolicyActs({1, 5});
  Hear(Version(6));
  RefusesEveryCopy({1, 6});
  EXPECT_EQ(Sent<WeightsRefused>().size(), 1u);
  EXPECT_TRUE(Sent<JobFailed>().empty());
  Judge(CorrectAt(2));
  EXPECT_EQ(Sent<TrajectoryResult>().size(), 1u);
}

TEST_F(WorkerRefuses, WeightsThatThePolicyDiesOfAgainAndAgainAreRefusedToo) {
  Happens(WeightsPulled{RunId(3), {1, 5}, "/w/5"});
  int deaths = 0;
  while (Sent<WeightsRefused>().empty()) {
    ASSERT_LT(++deaths, 20) << "it loads without end";
    ASSERT_EQ(asked_.size(), 1u);
    asked_.clear();
    Happens(PolicyLost{"signal 11"});
  }
  EXPECT_GE(deaths, 4) << "a machine in trouble is not the weights' fault";
  EXPECT_NE(Sent<WeightsRefused>()[0].why.find("signal 11"), std::string::npos);
  EXPECT_EQ(Sent<JobFailed>().size(), 1u);
  EXPECT_TRUE(asked_.empty());
}

}  // namespace
}  // namespace warpsmith
