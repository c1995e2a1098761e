// The real process: socket, store on disk, real Redis.
#include "coordinator/shell/process.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/wire/codec.h"
#include "coordinator/core/testing.h"
#include "schema/coordinator.h"
#include "tests/support/private_redis.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(30);  // against hanging only

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = PrivateRedis::Start();
    ASSERT_TRUE(started) << started.error().message;
    redis.emplace(std::move(*started));
    config.directory = (directory.path() / "coordinator").string();
    config.listen = "tcp://127.0.0.1:*";
    config.redis = redis->address();
    config.settings.redis = config.redis;
  }
  void TearDown() override { Stop(); }

  void Start() {
    signals.emplace();
    status.reset();
    thread = std::jthread([this] { status = RunCoordinator(config, *signals); });
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      const auto address = ReadFile(directory.path() / "coordinator" / "address");
      if (address && !address->empty()) {
        endpoint = *address;
        break;
      }
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(milliseconds(2));
    }
    dealer = std::move(*DealerTransport::Connect(endpoint, MakeRoutingId("test")));
  }
  void Stop() {
    if (!thread.joinable()) return;
    signals->Request();
    thread.join();
    EXPECT_TRUE(status.has_value() && status->has_value());
    signals.reset();
    std::filesystem::remove(directory.path() / "coordinator" / "address");
  }
  void Say(const ToCoordinator& message) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!dealer->Send({"", Encode(message)})) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  template <typename Message, typename Part>
  Message Hear() {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const auto envelope = dealer->Receive(milliseconds(100));
      if (!envelope) continue;
      auto message = Decode<FromCoordinator>(envelope->bytes).value();
      if (auto* part = std::get_if<Part>(&message))
        if (auto* wanted = std::get_if<Message>(part)) return std::move(*wanted);
    }
    ADD_FAILURE() << "it never came";
    return {};
  }
  ClientReply Ask(ClientRequest request) {
    Say(ClientCall{++calls, std::move(request)});
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const auto envelope = dealer->Receive(milliseconds(100));
      if (!envelope) continue;
      auto message = Decode<FromCoordinator>(envelope->bytes).value();
      auto* answer = std::get_if<ClientAnswer>(&message);
      if (answer != nullptr && answer->id == calls) return answer->reply;
    }
    ADD_FAILURE() << "no answer";
    return {};
  }

  TempDirectory directory = std::move(*TempDirectory::Make("coordinator_test"));
  std::optional<PrivateRedis> redis;
  CoordinatorConfig config;
  std::optional<StopSignals> signals;
  std::optional<Status> status;
  std::jthread thread;
  std::string endpoint;
  std::unique_ptr<DealerTransport> dealer;
  uint64_t calls = 0;
};

TEST_F(ProcessTest, AnAddressInUseIsSaidWithWhatToDo) {
  Start();
  CoordinatorConfig second = config;
  second.listen = endpoint;
  second.directory = (directory.path() / "second").string();
  const Status refused = RunCoordinator(second, *signals);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(ExitStatus(refused.error().code), 5);
  EXPECT_THAT(refused.error().message, HasSubstr("127.0.0.1"));
}

TEST_F(ProcessTest, ASecondProcessOnTheSameDirectoryIsRefused) {
  Start();
  const Status refused = RunCoordinator(config, *signals);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
}

TEST_F(ProcessTest, WhatWasAcceptedIsThereAfterARestartWithTheNextEpoch) {
  Start();
  const auto accepted = Ask(SubmitRun{"key", RandomSpec()});
  const RunId run = std::get<RunAccepted>(accepted).run;
  const uint64_t epoch = std::get<ClusterStatus>(Ask(GetCluster{})).epoch;
  Stop();
  Start();
  EXPECT_EQ(std::get<RunStatus>(Ask(GetRun{run})).name, "first");
  EXPECT_EQ(std::get<RunAccepted>(Ask(SubmitRun{"key", RandomSpec()})).run, run);
  EXPECT_EQ(std::get<ClusterStatus>(Ask(GetCluster{})).epoch, epoch + 1);
}

TEST_F(ProcessTest, RedisAwayIsShownAndComesBack) {
  Start();
  Say(LearnerMessage(RegisterLearner{}));
  EXPECT_EQ((Hear<WelcomeLearner, CoordinatorToLearner>().incarnation), 1u);
  Say(LearnerMessage(Heartbeat{}));
  Ask(SubmitRun{"key", GrammarSpec()});
  const auto await_redis = [&](bool alive) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::get<ClusterStatus>(Ask(GetCluster{})).redis_alive != alive) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::sleep_for(milliseconds(20));
    }
  };
  redis->Kill();
  await_redis(false);
  ASSERT_TRUE(redis->StartAgain());
  await_redis(true);
}

}  // namespace
}  // namespace warpsmith
