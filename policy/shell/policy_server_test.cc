#include "policy/shell/policy_server.h"

#include <gmock/gmock.h>

#include <thread>

#include "common/wire/codec.h"
#include "policy/grammar/families.h"
#include "policy/grammar/random_policy.h"
#include "policy/grammar/shipped_tasks.h"

namespace warpsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Says which weights it has in its actions' text.
class Echo : public Policy {
 public:
  Result<std::vector<Action>> Act(std::span<const Observation> observations) override {
    if (path_ == "broken library") return Fail(ErrorCode::kInternal, path_);
    std::vector<Action> actions(observations.size());
    for (Action& action : actions) action.text = path_;
    return actions;
  }
  Status Load(const std::string& path, PolicyVersion) override {
    if (path == "bad") return Fail(ErrorCode::kCorrupt, "bad weights");
    path_ = path;
    return {};
  }

 private:
  std::string path_ = "untrained";
};

std::unique_ptr<Policy> Make(const std::string& kind) {
  if (kind == "echo") return std::make_unique<Echo>();
  if (kind == "random") return std::make_unique<RandomPolicy>(Families());
  return nullptr;
}

ActRequest Ask(uint64_t run, const std::string& kind = "echo") {
  return {.id = 7,
          .run = RunId(run),
          .policy = kind,
          .task = ShippedTasks()[0],
          .episodes = {{.seed = 1}, {.seed = 2}}};
}

ActReply Act(PolicyServer& server, const ActRequest& request) {
  const auto answer = server.Answer(request);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? std::get<ActReply>(*answer) : ActReply{};
}

WeightsLoaded Load(PolicyServer& server, uint64_t run, const std::string& path) {
  const auto answer = server.Answer(
      LoadWeights{.id = 8, .run = RunId(run), .policy = "echo", .version = {1, 2}, .path = path});
  EXPECT_TRUE(answer);
  return std::get<WeightsLoaded>(*answer);
}

TEST(PolicyServer, SaysWhatIsWrongWithAQuestionAndGoesOn) {
  PolicyServer server(Make);
  EXPECT_THAT(Act(server, Ask(1, "oracle")).problem, HasSubstr("`oracle`"));
  ActRequest unknown = Ask(1, "random");
  unknown.task.reference = "def reference(x):\n    return torch.cumsum(x, -1)";
  const ActReply refused = Act(server, unknown);
  EXPECT_THAT(refused.problem, HasSubstr("no family"));
  EXPECT_THAT(refused.actions, SizeIs(0));
  EXPECT_EQ(refused.id, 7u);
  const ActReply fine = Act(server, Ask(1, "random"));
  EXPECT_EQ(fine.problem, "");
  EXPECT_THAT(fine.actions, SizeIs(2));
}

TEST(PolicyServer, KeepsEachRunsWeightsApart) {
  PolicyServer server(Make);
  EXPECT_EQ(Load(server, 1, "one").problem, "");
  EXPECT_EQ(Load(server, 2, "two").problem, "");
  EXPECT_EQ(Act(server, Ask(1)).actions[0].text, "one");
  EXPECT_EQ(Act(server, Ask(2)).actions[0].text, "two");
  EXPECT_EQ(Act(server, Ask(3)).actions[0].text, "untrained");
}

TEST(PolicyServer, BadWeightsLeaveTheOldOnes) {
  PolicyServer server(Make);
  Load(server, 1, "one");
  EXPECT_EQ(Load(server, 1, "bad").problem, "bad weights");
  EXPECT_EQ(Act(server, Ask(1)).actions[0].text, "one");
}

TEST(PolicyServer, EndsRatherThanAnswerWithWeightsThatItForgot) {
  PolicyServer server(Make, 2);
  Load(server, 1, "one");
  Load(server, 2, "two");
  Act(server, Ask(1));
  Act(server, Ask(3));  // makes room: run 2 was used least recently
  EXPECT_EQ(Act(server, Ask(1)).actions[0].text, "one");
  const auto answer = server.Answer(Ask(2));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(Load(server, 2, "two").problem, "");
  EXPECT_EQ(Act(server, Ask(2)).actions[0].text, "two");
}

TEST(PolicyServer, EndsWhenItFailsInAWayThatSaysNothingOfTheTask) {
  PolicyServer server(Make);
  Load(server, 1, "broken library");
  const auto answer = server.Answer(Ask(1));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kInternal);
}

TEST(PolicyServer, ServesUntilItsParentIsGoneAndTakesNoGarbage) {
  auto ends = FrameSocket::MakePair();
  ASSERT_TRUE(ends);
  FrameSocket parent = std::move(ends->first), child = std::move(ends->second);
  Status served;
  std::thread thread([&] { served = PolicyServer(Make).Serve(child); });
  ASSERT_TRUE(parent.Send(Encode(ToPolicy(Ask(1, "random"))), {}, std::chrono::seconds(10)));
  const auto frame = parent.Receive(std::chrono::seconds(60));
  ASSERT_TRUE(frame);
  const auto answer = Decode<FromPolicy>(frame->bytes);
  ASSERT_TRUE(answer);
  EXPECT_THAT(std::get<ActReply>(*answer).actions, SizeIs(2));
  parent = FrameSocket();
  thread.join();
  EXPECT_TRUE(served);

  auto others = FrameSocket::MakePair();
  ASSERT_TRUE(others);
  std::thread hostile([&] { served = PolicyServer(Make).Serve(others->second); });
  ASSERT_TRUE(others->first.Send(std::string("no message"), {}, std::chrono::seconds(10)));
  hostile.join();
  EXPECT_EQ(served.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace warpsmith
