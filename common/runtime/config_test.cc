#include "common/runtime/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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

  Status Apply(const std::string& toml, std::map<std::string, std::string> env = {},
               const std::vector<std::string>& flags = {}) {
    return table_.Apply(
        toml, "worker.toml",
        [env](const char* name) -> const char* {
          auto found = env.find(name);
          return found == env.end() ? nullptr : found->second.c_str();
        },
        flags);
  }

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
      {}, {"--verbose", "maybe", "--wings", "2", "--token", "x", "--capacity"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(
      status.error().message,
      AllOf(HasSubstr("worker.toml:2:"), HasSubstr("heartbeat_ms must be at least 10, not 1"),
            HasSubstr("capacity must be a whole number"),
            HasSubstr("worker.toml:4:10: there is no setting named colour"),
            HasSubstr("limits.noise must be a number"), HasSubstr("no setting named limits.foo"),
            HasSubstr("verbose must be true or false, not 'maybe'"),
            HasSubstr("--wings: unknown flag"), HasSubstr("--token: is a secret: set TOKEN"),
            HasSubstr("--capacity: needs a value")));
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
  ASSERT_TRUE(Apply("coordinator = 'ipc:///tmp/\"a\"'\ncapacity = 7\n", {{"TOKEN", "hush"}}));
  const std::string printed = table_.Print();
  EXPECT_THAT(printed, Not(HasSubstr("hush")));
  coordinator_ = "";
  capacity_ = 0;
  ASSERT_TRUE(Apply(printed)) << printed;
  EXPECT_EQ(coordinator_, "ipc:///tmp/\"a\"");
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
