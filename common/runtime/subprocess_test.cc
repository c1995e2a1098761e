#include "common/runtime/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "common/runtime/files.h"
#include "tests/support/proc.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

SubprocessOptions Shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

Subprocess Started(const SubprocessOptions& options) {
  auto child = Subprocess::Start(options);
  EXPECT_TRUE(child) << child.error().message;
  return child ? std::move(*child) : Subprocess();
}

// What a child's script printed.
std::string OutputOf(SubprocessOptions options) {
  TempDirectory folder = *TempDirectory::Make("subprocess-test");
  options.stdout_path = folder.path() / "out";
  Subprocess child = Started(options);
  EXPECT_TRUE(child.Wait(seconds(20)));
  return ReadFile(folder.path() / "out").value_or("");
}

TEST(Subprocess, AProgramThatIsNotThereIsMissingAndNamed) {
  auto child = Subprocess::Start({.argv = {"/nowhere/warpsmith-oracle"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kMissing);
  EXPECT_THAT(child.error().message, HasSubstr("/nowhere/warpsmith-oracle"));
}

TEST(Subprocess, AFolderThatIsNotThereIsAnError) {
  auto options = Shell("true");
  options.directory = "/nowhere";
  EXPECT_FALSE(Subprocess::Start(options));
}

TEST(Subprocess, HowItEndedIsReported) {
  EXPECT_EQ(Started(Shell("exit 7")).Wait(seconds(20))->status, 7);
  auto killed = Started(Shell("kill -SEGV $$")).Wait(seconds(20));
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->signal, SIGSEGV);
}

TEST(Subprocess, AWaitEndsWhileTheChildRunsOn) {
  Subprocess child = Started(Shell("exec sleep 100"));
  EXPECT_FALSE(child.Wait(milliseconds(1)));
  EXPECT_TRUE(child.running());
  child.Signal(SIGKILL);
  EXPECT_EQ(child.Wait(seconds(20))->signal, SIGKILL);
  EXPECT_FALSE(child.running());
}

TEST(Subprocess, AChildThatIgnoresTheFriendlySignalIsKilled) {
  TempDirectory folder = *TempDirectory::Make("subprocess-test");
  auto options = Shell("trap '' TERM; echo up; while :; do sleep 100; done");
  options.stdout_path = folder.path() / "out";
  Subprocess child = Started(options);
  while (ReadFile(folder.path() / "out").value_or("").empty())
    std::this_thread::sleep_for(milliseconds(2));
  auto report = child.Stop(milliseconds(50));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->signal, SIGKILL);
}

TEST(Subprocess, AChildThatWillNotDieIsNotWaitedForWithoutLimit) {
  Subprocess child = Started(Shell("exec sleep 100"));
  Unkillable held(child.pid());
  if (!held.holds()) GTEST_SKIP() << "this machine lets nobody trace";
  child.Signal(SIGKILL);
  EXPECT_FALSE(child.Wait(milliseconds(300)));
  held.LetGo();
  auto exit = child.Wait(seconds(20));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST(Subprocess, AnIgnoredSigchldHidesNoFailure) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  const auto exit = Started(Shell("exit 7")).Wait(seconds(20));
  ::signal(SIGCHLD, before);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 7);
}

TEST(Subprocess, WithoutDescriptorsItSaysSoAndLeavesNobody) {
  rlimit before;
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  for (rlim_t room = 0; room < 8; ++room) {
    const rlimit small{static_cast<rlim_t>(next) + room, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &small);
    auto child = Subprocess::Start(Shell("exit 7"));
    ::setrlimit(RLIMIT_NOFILE, &before);
    if (child) {
      EXPECT_EQ(child->Wait(seconds(20))->status, 7);
    } else {
      EXPECT_EQ(child.error().code, ErrorCode::kExhausted) << child.error().message;
      EXPECT_THAT(child.error().message, HasSubstr("limit of open files"));
    }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left behind, room " << room;
  }
}

TEST(Subprocess, WhatAChildStartedGoesWithIt) {
  const std::string pid = OutputOf(Shell("sleep 100 & echo $!"));
  ASSERT_FALSE(pid.empty());
  EXPECT_TRUE(GoneSoon(std::stoi(pid)));
}

TEST(Subprocess, AChildGoesWithItsObject) {
  pid_t pid;
  {
    Subprocess child = Started(Shell("exec sleep 100"));
    pid = child.pid();
  }
  EXPECT_TRUE(GoneSoon(pid));
}

TEST(Subprocess, AChildDiesWithItsParent) {
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto child = Subprocess::Start(Shell("exec sleep 100"));
    const pid_t pid = child ? child->pid() : 0;
    [[maybe_unused]] ssize_t n = ::write(pipes[1], &pid, sizeof pid);
    ::_exit(0);  // no destructor runs, as after SIGKILL
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(pipes[0], &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  ::waitpid(parent, nullptr, 0);
  ::close(pipes[0]);
  ::close(pipes[1]);
  ASSERT_GT(grandchild, 0);
  EXPECT_TRUE(GoneSoon(grandchild));
}

TEST(Subprocess, AtWhateverMomentAParentIsKilledItLeavesNoChild) {
  for (int round = 0; round < 60; ++round) {
    const pid_t parent = ::fork();
    if (parent == 0) {
      ::setsid();
      for (;;) (void)Subprocess::Start(Shell("exec sleep 100"));
    }
    // Over several of its children's starts and ends, in steps that fit none of them.
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + 97 * round));
    ::kill(parent, SIGKILL);
    ::waitpid(parent, nullptr, 0);
    ASSERT_TRUE(SessionEndsSoon(parent)) << "round " << round;
  }
}

TEST(Subprocess, OnlyNamedDescriptorsAreInherited) {
  int leaked[2], given[2];
  ASSERT_EQ(::pipe(leaked), 0);
  ASSERT_EQ(::pipe(given), 0);
  // Asks for each number by itself: listing the folder would see the shell's own pipes.
  auto options = Shell("echo hello >&9; for fd in " + std::to_string(leaked[0]) + " " +
                       std::to_string(leaked[1]) +
                       " 9; do if [ -e /proc/$$/fd/$fd ]; then printf '%s ' $fd; fi; done");
  options.fds = {{9, given[1]}};
  EXPECT_EQ(OutputOf(options), "9 ");
  char text[8] = {};
  EXPECT_EQ(::read(given[0], text, sizeof text), 6);
  EXPECT_STREQ(text, "hello\n");
  for (int fd : {leaked[0], leaked[1], given[0], given[1]}) ::close(fd);
}

TEST(Subprocess, DescriptorsMayTradeNumbers) {
  int one[2], two[2];
  ASSERT_EQ(::pipe(one), 0);
  ASSERT_EQ(::pipe(two), 0);
  auto options =
      Shell("printf 1 >&" + std::to_string(two[1]) + "; printf 2 >&" + std::to_string(one[1]));
  options.fds = {{two[1], one[1]}, {one[1], two[1]}};
  OutputOf(options);
  char first = 0, second = 0;
  EXPECT_EQ(::read(one[0], &first, 1), 1);
  EXPECT_EQ(::read(two[0], &second, 1), 1);
  EXPECT_EQ(first, '1');
  EXPECT_EQ(second, '2');
  for (int fd : {one[0], one[1], two[0], two[1]}) ::close(fd);
}

TEST(Subprocess, EnvironmentFolderAndCoresAreAsAsked) {
  auto options = Shell(
      "echo $WARPSMITH_TEST $(pwd) $(awk '/Cpus_allowed_list/ {print $2}' /proc/self/status)");
  options.env = {{"WARPSMITH_TEST", "set"}};
  options.directory = "/usr";
  options.cores = {0};
  EXPECT_EQ(OutputOf(options), "set /usr 0\n");
}

}  // namespace
}  // namespace warpsmith
