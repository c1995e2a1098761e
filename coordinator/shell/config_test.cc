#include "coordinator/shell/config.h"

#include <gmock/gmock.h>

namespace warpsmith {
namespace {

using testing::HasSubstr;

std::string WhyNot(std::vector<const char*> argv) {
  argv.insert(argv.begin(), "warpsmith-coordinator");
  CoordinatorConfig config;
  const auto action = LoadCoordinatorConfig(static_cast<int>(argv.size()), argv.data(), &config);
  return action ? "" : action.error().message;
}

TEST(CoordinatorConfig, ThePeersOfTheDefaultsHaveTimeToSpeak) { EXPECT_EQ(WhyNot({}), ""); }

TEST(CoordinatorConfig, TimesThatWouldTakeEveryPeerForDeadAreRefused) {
  EXPECT_THAT(WhyNot({"--heartbeat-ms", "6000"}), HasSubstr("more than heartbeat_ms"));
  EXPECT_THAT(WhyNot({"--lease-ms", "2000"}), HasSubstr("lease_ms"));
  EXPECT_THAT(WhyNot({"--dead-ms", "5000"}), HasSubstr("at least torpid_ms"));
}

TEST(CoordinatorConfig, TheLearnersRedisIsItsOwn) {
  CoordinatorConfig config;
  const char* argv[] = {"warpsmith-coordinator", "--redis", "unix:/r", "--max-failures", "7"};
  ASSERT_TRUE(LoadCoordinatorConfig(5, argv, &config));
  EXPECT_EQ(config.settings.redis, "unix:/r");
  EXPECT_EQ(config.settings.max_failures, 7u);
}

}  // namespace
}  // namespace warpsmith
