#include "tools/warpsmith/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <functional>

#include "common/wire/codec.h"
#include "schema/coordinator.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// A network that answers each request as the test says; nothing waits.
class Network : public Transport {
 public:
  using Answer = std::function<std::vector<ClientAnswer>(const ClientCall&)>;
  explicit Network(Answer answer) : answer_(std::move(answer)) {}

  Status Send(const Envelope& envelope) override {
    if (away-- > 0) return Fail(ErrorCode::kUnavailable, "not connected yet");
    auto message = Decode<ToCoordinator>(envelope.bytes);
    EXPECT_TRUE(message);
    const auto& call = std::get<ClientCall>(*message);
    ids.push_back(call.id);
    for (auto& answer : answer_(call)) waiting_.push_back(Encode(FromCoordinator{answer}));
    return {};
  }
  std::optional<Envelope> Receive(Duration) override {
    if (waiting_.empty()) return std::nullopt;
    Envelope envelope{.peer = "", .bytes = waiting_.front()};
    waiting_.pop_front();
    if (format_version) envelope.bytes[4] = *format_version;
    return envelope;
  }
  void Wake() override {}

  int away = 0;
  std::optional<char> format_version;  // of another release
  std::vector<uint64_t> ids;

 private:
  Answer answer_;
  std::deque<std::string> waiting_;
};

struct Rig {
  explicit Rig(Network::Answer answer, Duration nobody = seconds(4)) {
    auto owned = std::make_unique<Network>(std::move(answer));
    network = owned.get();
    client = std::make_unique<Client>(std::move(owned), "tcp://here:1", nobody);
  }
  Network* network;
  std::unique_ptr<Client> client;
};

TEST(Client, KeepsTryingUntilTheCoordinatorIsConnected) {
  Rig rig([](const ClientCall& call) {
    return std::vector{ClientAnswer{call.id, RunAccepted{RunId(7)}}};
  });
  rig.network->away = 3;
  const auto accepted = rig.client->Ask<RunAccepted>(SubmitRun{.key = "k"}, seconds(20));
  ASSERT_TRUE(accepted) << accepted.error().message;
  EXPECT_EQ(accepted->run, RunId(7));
}

TEST(Client, SaysSoonThatNobodyListensWhereNobodyEverWas) {
  Rig rig([](const ClientCall&) { return std::vector<ClientAnswer>{}; }, milliseconds(20));
  rig.network->away = 1 << 30;
  const auto accepted = rig.client->Ask<RunAccepted>(SubmitRun{.key = "k"}, std::chrono::hours(1));
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(accepted.error().message, HasSubstr("nobody listens at tcp://here:1"));
  EXPECT_TRUE(rig.network->ids.empty());
}

TEST(Client, RepeatsAnUnansweredRequestUnderTheSameNumber) {
  int asked = 0;
  Rig rig([&](const ClientCall& call) {
    std::vector<ClientAnswer> answers;
    if (++asked == 2) answers.push_back({call.id, RunAccepted{RunId(1)}});
    return answers;
  });
  EXPECT_TRUE(rig.client->Ask<RunAccepted>(SubmitRun{.key = "k"}, seconds(20)));
  EXPECT_THAT(rig.network->ids, testing::ElementsAre(1, 1));
}

TEST(Client, IgnoresLateAnswersToEarlierCalls) {
  Rig rig([](const ClientCall& call) {
    std::vector<ClientAnswer> answers;
    if (call.id > 1) answers.push_back({call.id - 1, RunAccepted{RunId(1)}});
    answers.push_back({call.id, RunAccepted{RunId(call.id)}});
    return answers;
  });
  EXPECT_EQ(rig.client->Ask<RunAccepted>(SubmitRun{})->run, RunId(1));
  EXPECT_EQ(rig.client->Ask<RunAccepted>(SubmitRun{})->run, RunId(2));
}

TEST(Client, ARefusalKeepsItsKindAndItsReason) {
  Rig rig([](const ClientCall& call) {
    return std::vector{ClientAnswer{call.id, RequestFailed{"not_found", "no run 9"}}};
  });
  const auto status = rig.client->Ask<RunStatus>(GetRun{RunId(9)});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(status.error().message, "no run 9");
}

TEST(Client, AKindOfRefusalThatIsNotKnownKeepsItsReason) {
  Rig rig([](const ClientCall& call) {
    return std::vector{ClientAnswer{call.id, RequestFailed{"on_holiday", "come back later"}}};
  });
  const auto status = rig.client->Ask<RunStatus>(GetRun{RunId(9)});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error(), (Error{ErrorCode::kInternal, "come back later"}));
}

TEST(Client, ACoordinatorOfAnotherReleaseIsSaidAtOnce) {
  auto network = std::make_unique<Network>([](const ClientCall& call) {
    return std::vector{ClientAnswer{call.id, RunAccepted{RunId(1)}}};
  });
  network->format_version = 99;
  Client client(std::move(network), "tcp://here:1", seconds(4));
  const auto accepted = client.Ask<RunAccepted>(SubmitRun{}, std::chrono::hours(1));
  ASSERT_FALSE(accepted);
  EXPECT_THAT(accepted.error().message, HasSubstr("format version 99"));
  EXPECT_THAT(accepted.error().message, HasSubstr("one apart at most"));
}

TEST(Client, SilenceNamesTheAddress) {
  Rig rig([](const ClientCall&) { return std::vector<ClientAnswer>{}; });
  const auto status = rig.client->Ask<RunStatus>(GetRun{RunId(9)}, milliseconds(20));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(status.error().message, HasSubstr("tcp://here:1"));
}

TEST(Client, AnAnswerToAnotherQuestionIsCorrupt) {
  Rig rig([](const ClientCall& call) {
    return std::vector{ClientAnswer{call.id, JobAccepted{JobId(1)}}};
  });
  EXPECT_EQ(rig.client->Ask<RunStatus>(GetRun{}).error().code, ErrorCode::kCorrupt);
}

TEST(Client, TheFlagComesBeforeTheEnvironment) {
  ::setenv("WARPSMITH_COORDINATOR", "tcp://environment:1", 1);
  EXPECT_EQ(*CoordinatorAddress("tcp://flag:1"), "tcp://flag:1");
  EXPECT_EQ(*CoordinatorAddress(""), "tcp://environment:1");
  ::unsetenv("WARPSMITH_COORDINATOR");
}

TEST(Client, TheNewestRunIsChosen) {
  Rig rig([](const ClientCall& call) {
    ClusterStatus cluster;
    for (const uint64_t id : {2, 5, 3}) cluster.runs.push_back({.run = RunId(id)});
    return std::vector{ClientAnswer{call.id, cluster}};
  });
  EXPECT_EQ(*ChosenRun(*rig.client, std::nullopt), RunId(5));
  EXPECT_EQ(*ChosenRun(*rig.client, 2), RunId(2));
}

}  // namespace
}  // namespace warpsmith
