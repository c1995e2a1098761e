#include "coordinator/core/learner.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using std::chrono::seconds;
using Standing = LearnerSession::Standing;

TEST(LearnerSession, TheNewestProcessCountsAndOlderOnesAreReplacedForGood) {
  LearnerSession session(seconds(30));
  EXPECT_EQ(session.Admit("first", TimePoint{}).incarnation, 1u);
  EXPECT_EQ(session.Admit("second", TimePoint{}).incarnation, 2u);
  EXPECT_EQ(session.StandingOf("first"), Standing::kReplaced);
  EXPECT_EQ(session.StandingOf("second"), Standing::kCurrent);
  EXPECT_EQ(session.StandingOf("third"), Standing::kUnknown);
}

TEST(LearnerSession, AProcessKeepsItsNumberOverARestartButHasToRegister) {
  LearnerSession session(seconds(30));
  session.Restore({{1, "first"}, {2, "second"}});
  EXPECT_EQ(session.StandingOf("second"), Standing::kCurrent);
  EXPECT_FALSE(session.registered("second"));
  EXPECT_FALSE(session.alive(TimePoint{}));
  session.Readmit(TimePoint{});
  EXPECT_TRUE(session.registered("second"));
  EXPECT_EQ(session.incarnation(), 2u);
  EXPECT_EQ(session.Admit("third", TimePoint{}).incarnation, 3u);
}

TEST(LearnerSession, SilenceIsDeath) {
  LearnerSession session(seconds(30));
  session.Admit("first", TimePoint{});
  EXPECT_TRUE(session.alive(TimePoint{} + seconds(29)));
  EXPECT_FALSE(session.alive(TimePoint{} + seconds(30)));
  session.Heard(TimePoint{} + seconds(40));
  EXPECT_TRUE(session.alive(TimePoint{} + seconds(41)));
}

TEST(LearnerSession, ANewProcessHasSaidNothingYet) {
  LearnerSession session(seconds(30));
  session.Admit("first", TimePoint{});
  session.Talk(RunId(1)).claims_trained = true;
  session.Admit("second", TimePoint{});
  EXPECT_EQ(session.FindTalk(RunId(1)), nullptr);
}

}  // namespace
}  // namespace warpsmith
