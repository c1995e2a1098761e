#include "coordinator/core/learner.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using std::chrono::seconds;
using Standing = LearnerSession::Standing;

void Joins(LearnerSession& session, const std::string& peer, TimePoint now = {}) {
  session.Admit(peer);
  session.Remember(peer, {});
  session.TakeOver(peer, now);
}

TEST(LearnerSession, TheNewestProcessCountsAndOlderOnesAreReplacedForGood) {
  LearnerSession session(seconds(30));
  Joins(session, "first");
  EXPECT_EQ(session.incarnation(), 1u);
  Joins(session, "second");
  EXPECT_EQ(session.incarnation(), 2u);
  EXPECT_EQ(session.StandingOf("first"), Standing::kReplaced);
  EXPECT_EQ(session.StandingOf("second"), Standing::kCurrent);
  EXPECT_EQ(session.StandingOf("third"), Standing::kUnknown);
}

TEST(LearnerSession, ARegistrationAloneReplacesNobody) {
  LearnerSession session(seconds(30));
  Joins(session, "first");
  EXPECT_EQ(session.Admit("ghost").incarnation, 2u);
  session.Remember("ghost", {});
  EXPECT_EQ(session.StandingOf("first"), Standing::kCurrent);
  EXPECT_EQ(session.StandingOf("ghost"), Standing::kPending);
  Joins(session, "third");
  EXPECT_EQ(session.StandingOf("ghost"), Standing::kReplaced);
  EXPECT_FALSE(session.Remembers("ghost"));
}

TEST(LearnerSession, AProcessKeepsItsNumberOverARestartButHasToRegister) {
  LearnerSession session(seconds(30));
  session.Restore({{1, "first", true}, {2, "second", true}, {3, "ghost", false}});
  EXPECT_EQ(session.StandingOf("second"), Standing::kCurrent);
  EXPECT_EQ(session.StandingOf("ghost"), Standing::kPending);
  EXPECT_FALSE(session.Remembers("ghost"));
  EXPECT_FALSE(session.registered("second"));
  EXPECT_FALSE(session.alive(TimePoint{}));
  session.Readmit(TimePoint{});
  EXPECT_TRUE(session.registered("second"));
  EXPECT_EQ(session.incarnation(), 2u);
  EXPECT_EQ(session.Admit("fourth").incarnation, 4u);
}

TEST(LearnerSession, SilenceIsDeath) {
  LearnerSession session(seconds(30));
  Joins(session, "first");
  EXPECT_TRUE(session.alive(TimePoint{} + seconds(29)));
  EXPECT_FALSE(session.alive(TimePoint{} + seconds(30)));
  session.Heard(TimePoint{} + seconds(40));
  EXPECT_TRUE(session.alive(TimePoint{} + seconds(41)));
}

TEST(LearnerSession, ANewProcessHasSaidNothingYet) {
  LearnerSession session(seconds(30));
  Joins(session, "first");
  session.Talk(RunId(1)).trained = TimePoint{};
  Joins(session, "second");
  EXPECT_EQ(session.FindTalk(RunId(1)), nullptr);
}

}  // namespace
}  // namespace warpsmith
