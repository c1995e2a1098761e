#include "worker/core/policy_desk.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

TEST(PolicyDesk, AnAnswerToAnotherQuestionIsIgnored) {
  PolicyDesk desk;
  EXPECT_FALSE(desk.TakeAct(0)) << "nothing was asked";
  desk.Asked({.id = 5, .job = JobId(1), .episodes = {2}});
  EXPECT_FALSE(desk.TakeAct(4));
  EXPECT_FALSE(desk.TakeLoad(5)) << "an act is no load";
  EXPECT_TRUE(desk.busy());
  const auto answered = desk.TakeAct(5);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->job, JobId(1));
  EXPECT_FALSE(desk.busy());

  desk.Asked({.id = 6, .load = LoadWeights{.id = 6, .run = RunId(3)}});
  EXPECT_FALSE(desk.TakeAct(6)) << "a load is no act";
  EXPECT_EQ(desk.last_asked(), JobId(1)) << "a load takes nobody's turn";
  EXPECT_EQ(desk.TakeLoad(6)->run, RunId(3));
}

TEST(PolicyDesk, StaysBusyWithTheActOfAJobThatIsGone) {
  PolicyDesk desk;
  desk.Asked({.id = 5, .job = JobId(1)});
  desk.Forget(JobId(2));
  EXPECT_EQ(desk.open()->job, JobId(1));
  desk.Forget(JobId(1));
  EXPECT_TRUE(desk.busy());
  EXPECT_EQ(desk.TakeLost()->job, std::nullopt);
  EXPECT_FALSE(desk.busy());
}

}  // namespace
}  // namespace warpsmith
