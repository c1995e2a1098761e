#include "tools/warpsmith/kept.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <sstream>
#include <vector>

#include "common/runtime/files.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, DoublesUpToACapAndBeginsAnewAfterAHealthyLife) {
  Backoff backoff;
  EXPECT_EQ(backoff.Next(seconds(0)), milliseconds(200));
  EXPECT_EQ(backoff.Next(seconds(0)), milliseconds(400));
  for (int i = 0; i < 20; ++i) backoff.Next(seconds(0));
  EXPECT_EQ(backoff.Next(seconds(0)), Backoff::kCap);
  EXPECT_EQ(backoff.Next(Backoff::kHealthy), Backoff::kFirst);
}

TEST(Backoff, GrowsHoweverLongAChildLivedThatSaysItCannotWork) {
  Backoff backoff;
  EXPECT_EQ(backoff.Next(seconds(100), true), milliseconds(200));
  EXPECT_EQ(backoff.Next(seconds(100), true), milliseconds(400));
  EXPECT_EQ(backoff.Next(seconds(100), false), Backoff::kFirst);
}

// A child that is a line of shell, and what is said about it.
class Keeping : public testing::Test {
 protected:
  Keeping() : directory_(*TempDirectory::Make("kept-test")) {}

  std::string file() const { return (directory_.path() / "pids").string(); }

  std::unique_ptr<Kept> Keep(const std::string& script) {
    return std::make_unique<Kept>(KeptOptions{
        .name = "child",
        .start =
            [this, script] {
              SubprocessOptions options;
              options.argv = {"/bin/sh", "-c", "echo $$ >> '" + file() + "'; " + script};
              return options;
            },
        .grace = seconds(2),
        .notice =
            [this](const std::string& line) {
              const std::scoped_lock lock(mutex_);
              notices_.push_back(line);
              said_.notify_all();
            },
        .hopeless =
            [this](int status, const std::string& why) {
              const std::scoped_lock lock(mutex_);
              hopeless_ = status;
              why_ = why;
              said_.notify_all();
            }});
  }

  std::vector<int> Pids() const {
    std::vector<int> pids;
    std::ifstream stream(file());
    for (int pid = 0; stream >> pid;) pids.push_back(pid);
    return pids;
  }

  template <typename Condition>
  bool Await(Condition condition) {
    std::unique_lock lock(mutex_);
    return said_.wait_for(lock, seconds(30), condition);
  }

  // A child that does not talk to the test: looks until it has done its part.
  bool AwaitPids(size_t count) const {
    const auto deadline = std::chrono::steady_clock::now() + seconds(30);
    while (Pids().size() < count) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
  }

  TempDirectory directory_;
  std::mutex mutex_;
  std::condition_variable said_;
  std::vector<std::string> notices_;
  int hopeless_ = -1;
  std::string why_;
};

TEST_F(Keeping, AChildThatIsKilledIsStartedAgain) {
  const auto kept = Keep("exec sleep 60");
  ASSERT_TRUE(AwaitPids(1));
  ::kill(Pids()[0], SIGKILL);
  ASSERT_TRUE(AwaitPids(2));
  EXPECT_TRUE(Await([&] { return !notices_.empty(); }));
  EXPECT_NE(notices_[0].find("child was ended by signal 9"), std::string::npos) << notices_[0];
  kept->Stop();
  EXPECT_NE(::kill(Pids()[1], 0), 0);  // gone and reaped
}

TEST_F(Keeping, StoppingEndsAChildThatIgnoresTerm) {
  const auto kept = Keep("trap '' TERM; while :; do sleep 0.05; done");
  ASSERT_TRUE(AwaitPids(1));
  kept->Stop();
  EXPECT_NE(::kill(Pids()[0], 0), 0);
}

TEST_F(Keeping, AChildThatSaysItCannotWorkHereIsGivenUp) {
  const auto kept = Keep("exit 3");
  ASSERT_TRUE(Await([&] { return hopeless_ >= 0; }));
  EXPECT_EQ(hopeless_, 3);
  EXPECT_EQ(why_, "child ended with status 3");
  kept->Stop();
  EXPECT_EQ(Pids().size(), 1u);
}

TEST_F(Keeping, AChildThatCrashesAtItsFirstStartIsNotGivenUp) {
  const auto kept = Keep("test -e '" + file() + ".second' && exec sleep 60; touch '" + file() +
                         ".second'; exit 70");
  ASSERT_TRUE(AwaitPids(2));
  EXPECT_EQ(hopeless_, -1);
}

TEST_F(Keeping, ALogThatIsEmptySaysWhatThatMayMean) {
  const std::string log = file() + ".log", full = "may be full";
  std::ofstream(log) << "";
  EXPECT_NE(EndOfLog(log, 5).find(full), std::string::npos);
  EXPECT_EQ(EndOfLog(log, 2).find(full), std::string::npos);
  EXPECT_NE(EndOfLog(log + ".none", 5).find(full), std::string::npos);
  std::ofstream(log) << std::string(1000, 'x') << "another worker uses the folder";
  EXPECT_EQ(EndOfLog(log, 5).find(full), std::string::npos);
  EXPECT_NE(EndOfLog(log, 5).find("another worker"), std::string::npos);
}

}  // namespace
}  // namespace warpsmith
