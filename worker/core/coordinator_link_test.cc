#include "worker/core/coordinator_link.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

TEST(CoordinatorLink, RegistersAgainWithDelaysThatGrowUpToALimit) {
  CoordinatorLink link(250ms);
  TimePoint now{};
  EXPECT_FALSE(link.RegisterDue(now + 1h)) << "nobody has begun";
  link.BeginRegistering();
  Duration last{};
  for (int i = 0; i < 10; ++i) {
    link.RegistrationSent(now);
    const TimePoint next = link.NextDeadline(false).value();
    EXPECT_FALSE(link.RegisterDue(next - 1ms));
    EXPECT_TRUE(link.RegisterDue(next));
    EXPECT_GE(next - now, last);
    last = next - now;
    now = next;
  }
  EXPECT_EQ(last, 16 * 250ms);
}

TEST(CoordinatorLink, AHeartbeatIsTakenOnceAndIsDueAgainLater) {
  CoordinatorLink link(250ms);
  TimePoint now{};
  link.BeginRegistering();
  EXPECT_FALSE(link.TakeHeartbeat(now + 1h)) << "not before it is welcome";
  EXPECT_TRUE(link.Welcomed(now, {.epoch = 3, .heartbeat = 1s, .lease = 10s}));
  EXPECT_FALSE(link.Welcomed(now, {.epoch = 3, .heartbeat = 1s, .lease = 10s})) << "a copy";
  EXPECT_FALSE(link.TakeHeartbeat(now + 499ms));
  EXPECT_TRUE(link.TakeHeartbeat(now + 500ms));
  EXPECT_FALSE(link.TakeHeartbeat(now + 500ms));
  EXPECT_TRUE(link.TakeHeartbeat(now + 1s));
}

TEST(CoordinatorLink, SilenceForALeaseFencesWhoeverHoldsSomething) {
  CoordinatorLink link(250ms);
  const TimePoint now{};
  link.BeginRegistering();
  EXPECT_FALSE(link.Fenced(now + 1h, true)) << "no lease is known yet";
  link.Heard(now);
  link.Welcomed(now, {.epoch = 1, .heartbeat = 1s, .lease = 10s});
  EXPECT_FALSE(link.Fenced(now + 9s, true));
  EXPECT_TRUE(link.Fenced(now + 10s, false));
  link.BeginRegistering();
  EXPECT_TRUE(link.Fenced(now + 10s, true));
  EXPECT_FALSE(link.Fenced(now + 10s, false)) << "it holds nothing, and knows that it is alone";
  link.Heard(now + 8s);
  EXPECT_FALSE(link.Fenced(now + 10s, true));
}

}  // namespace
}  // namespace warpsmith
