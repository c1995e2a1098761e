#include "common/runtime/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <future>

namespace warpsmith {
namespace {

TEST(StopSignals, NothingIsAskedUntilASignalComes) {
  StopSignals signals;
  pollfd entry{signals.fd(), POLLIN, 0};
  EXPECT_FALSE(signals.requested());
  EXPECT_EQ(::poll(&entry, 1, 0), 0);
}

TEST(StopSignals, ASignalAsksOnceAndWakesTheWatcher) {
  StopSignals signals;
  std::promise<void> woken;
  signals.Watch([&] { woken.set_value(); });
  ::raise(SIGTERM);
  EXPECT_TRUE(signals.requested());
  EXPECT_EQ(woken.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  pollfd entry{signals.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 0), 1);
}

TEST(StopSignals, AWatcherThatIsNeverCalledEndsWithItsObject) {
  bool called = false;
  {
    StopSignals signals;
    signals.Watch([&] { called = true; });
  }
  EXPECT_FALSE(called);
}

TEST(StopSignals, ASecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        StopSignals signals;
        ::raise(SIGINT);
        ::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace warpsmith
