#include "common/runtime/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "common/runtime/files.h"

namespace warpsmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    table_.Add(
        "coordinator", &coordinator_,
        {.purpose = "address of the coordinator", .environment = "COORDINATOR", .required = true});
    table_.Add("heartbeat_ms", &heartbeat_, {.purpose = "time between signs of life", .least = 10});
    table_.Add("capacity", &capacity_, {.purpose = "jobs held at once", .least = 1, .most = 64});
    table_.Add("limits.memory_bytes", &memory_, {.purpose = "memory of a child"});
    table_.Add("limits.noise", &noise_, {.purpose = "relative noise that is accepted"});
    table_.Add("verbose", &verbose_, {.purpose = "say more"});
    table_.Add("token", &token_, {.purpose = "key", .environment = "TOKEN", .secret = true});
  }

  // What the program reads from these three.
  Status Apply(const std::string& toml, const std::map<std::string, std::string>& env = {},
               const std::vector<std::string>& flags = {}) {
    const std::string file = folder_.path() / "worker.toml";
    EXPECT_TRUE(WriteFileAtomically(file, toml));
    std::vector<const char*> argv = {"warpsmith-worker", "--config", file.c_str()};
    for (const std::string& flag : flags) argv.push_back(flag.c_str());
    for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
    const auto loaded = table_.Load(static_cast<int>(argv.size()), argv.data());
    for (const auto& [name, value] : env) unsetenv(name.c_str());
    if (!loaded) return tl::unexpected(loaded.error());
    EXPECT_EQ(*loaded, ConfigAction::kRun);
    return {};
  }

  TempDirectory folder_ = *TempDirectory::Make("config-test");
  std::string coordinator_ = "tcp://localhost:7070";
  Duration heartbeat_ = std::chrono::milliseconds(500);
  int capacity_ = 1;
  int64_t memory_ = 1 << 30;
  double noise_ = 0.02;
  bool verbose_ = false;
  std::string token_;
  ConfigTable table_{"warpsmith-worker", "runs candidates"};
};

TEST_F(ConfigTest, EveryProblemIsReportedAtOnceWithItsPlace) {
  auto status = Apply(
      "coordinator = \"\"\nheartbeat_ms = 1\ncapacity = 2.5\ncolour = \"red\"\n[limits]\n"
      "noise = \"low\"\nfoo = 1\n",
      {{"COORDINATOR", ""}},
      {"--verbose", "maybe", "--wings", "2", "--token", "x", "stray", "--capacity"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(
      status.error().message,
      AllOf(HasSubstr("worker.toml:2:"), HasSubstr("heartbeat_ms must be at least 10, not 1"),
            HasSubstr("capacity must be a whole number"),
            HasSubstr("worker.toml:4:10: there is no setting named colour"),
            HasSubstr("limits.noise must be a number"), HasSubstr("no setting named limits.foo"),
            HasSubstr("verbose must be true or false, not 'maybe'"),
            HasSubstr("--wings: unknown flag"), HasSubstr("stray: unknown flag"),
            HasSubstr("--token: is a secret: set TOKEN"),
            HasSubstr("--capacity: 1 required VALUE missing")));
  EXPECT_THAT(status.error().message, Not(HasSubstr("2: unknown flag")));
  EXPECT_THAT(status.error().message,
              HasSubstr("coordinator: must be set: address of the coordinator"));
}

TEST_F(ConfigTest, NumbersThatWouldBeRoundedOrOverflowAreRefused) {
  for (const std::string flag : {"--heartbeat-ms=1e300", "--limits.memory-bytes=9007199254740993",
                                 "--limits.memory-bytes=1e300"}) {
    const auto status = Apply("", {}, {flag});
    ASSERT_FALSE(status) << flag;
    EXPECT_THAT(status.error().message, HasSubstr("is too large"));
  }
  EXPECT_TRUE(Apply("", {}, {"--limits.memory-bytes=9007199254740991"}));
  EXPECT_EQ(memory_, 9007199254740991);
}

TEST_F(ConfigTest, AValueOfAnotherTypeIsRefused) {
  for (const std::string toml : {"capacity = \"3\"", "capacity = true", "capacity = [3]",
                                 "capacity = 2026-01-02", "verbose = 1", "verbose = \"true\"",
                                 "coordinator = 5", "heartbeat_ms = inf", "[capacity]\nx = 1"})
    EXPECT_FALSE(Apply(toml)) << toml;
  for (const std::string flag : {"--capacity=0x10", "--capacity= 3", "--capacity=+3", "--capacity=",
                                 "--verbose=1", "--heartbeat-ms=inf", "--limits.noise=nan"})
    EXPECT_FALSE(Apply("", {}, {flag})) << flag;
  EXPECT_EQ(capacity_, 1);
  EXPECT_FALSE(verbose_);
  EXPECT_EQ(heartbeat_, std::chrono::milliseconds(500));
}

TEST_F(ConfigTest, AnEmptyTextIsAValueAndTheLastFlagCounts) {
  table_.Add("policies", &token_, {.purpose = "kinds; empty: none"});
  token_ = "grammar";
  ASSERT_TRUE(Apply("", {}, {"--capacity=9", "--policies=", "--capacity", "010"}));
  EXPECT_EQ(token_, "");
  EXPECT_EQ(capacity_, 10) << "decimal";
  ASSERT_TRUE(Apply("", {}, {"--limits.noise", "-2.5"}));
  EXPECT_EQ(noise_, -2.5);
}

TEST_F(ConfigTest, AFileThatIsNoTomlSaysWhere) {
  auto status = Apply("capacity = = 3");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("worker.toml:1:"));
}

TEST_F(ConfigTest, AMissingFileIsNotFound) {
  const char* argv[] = {"warpsmith-worker", "--config", "/nowhere/at.toml"};
  EXPECT_EQ(table_.Load(3, argv).error().code, ErrorCode::kNotFound);
}

TEST_F(ConfigTest, FlagsWinOverEnvironmentOverFileOverDefault) {
  ASSERT_TRUE(
      Apply("coordinator = \"tcp://file:1\"\ncapacity = 3\nverbose = true\n[limits]\nnoise = 1\n",
            {{"COORDINATOR", "tcp://environment:1"}},
            {"--capacity", "4", "--heartbeat-ms=20.5", "--limits.memory-bytes", "9"}));
  EXPECT_EQ(coordinator_, "tcp://environment:1");
  EXPECT_EQ(capacity_, 4);
  EXPECT_EQ(heartbeat_, std::chrono::microseconds(20'500));
  EXPECT_EQ(memory_, 9);
  EXPECT_EQ(noise_, 1);
  EXPECT_TRUE(verbose_);
}

TEST_F(ConfigTest, WhatIsPrintedGivesTheSameConfigurationAgainWithoutSecrets) {
  ASSERT_TRUE(Apply("coordinator = 'ipc:///tmp/\"a\"\\'\ncapacity = 7\n", {{"TOKEN", "hush"}}));
  const std::string printed = table_.Print();
  EXPECT_THAT(printed, Not(HasSubstr("hush")));
  coordinator_ = "";
  capacity_ = 0;
  ASSERT_TRUE(Apply(printed)) << printed;
  EXPECT_EQ(coordinator_, "ipc:///tmp/\"a\"\\");
  EXPECT_EQ(capacity_, 7);
  EXPECT_EQ(table_.Print(), printed);
}

TEST_F(ConfigTest, HelpNamesEveryFlagWithPurposeAndDefault) {
  EXPECT_THAT(table_.Help(),
              AllOf(HasSubstr("--heartbeat-ms VALUE"), HasSubstr("time between signs"),
                    HasSubstr("default 500"), HasSubstr("environment COORDINATOR")));
}

}  // namespace
}  // namespace warpsmith
