// The program warpsmith-policy as its supervisor sees it.
#include <gmock/gmock.h>

#include "common/net/frame_socket.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"
#include "common/wire/codec.h"
#include "policy/grammar/shipped_tasks.h"
#include "schema/child.h"

namespace warpsmith {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Duration kLimit = std::chrono::seconds(60);

TEST(PolicyProgram, SaysHowToStartItAndEndsWithItsParent) {
  auto lost = Subprocess::Start(
      {.argv = {(ProgramDirectory() / "warpsmith-policy").string()}, .stderr_path = "/dev/null"});
  ASSERT_TRUE(lost) << lost.error().message;
  const auto exit = lost->Wait(kLimit);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 2);

  auto ends = FrameSocket::MakePair();
  ASSERT_TRUE(ends);
  auto child =
      Subprocess::Start({.argv = {(ProgramDirectory() / "warpsmith-policy").string(), "--fd", "3"},
                         .fds = {{3, ends->second.fd()}},
                         .stderr_path = "/dev/null"});
  ASSERT_TRUE(child) << child.error().message;
  ends->second = FrameSocket();

  const auto ask = [&](const ToPolicy& question) {
    EXPECT_TRUE(ends->first.Send(Encode(question), {}, kLimit));
    const auto frame = ends->first.Receive(kLimit);
    EXPECT_TRUE(frame) << frame.error().message;
    return *Decode<FromPolicy>(frame->bytes);
  };
  const ActRequest act{.id = 1,
                       .run = RunId(1),
                       .policy = "grammar",
                       .task = ShippedTasks()[3],
                       .episodes = {{.seed = 1}, {.seed = 2}, {.seed = 1}}};
  const auto reply = std::get<ActReply>(ask(act));
  EXPECT_EQ(reply.problem, "");
  ASSERT_THAT(reply.actions, SizeIs(3));
  EXPECT_EQ(reply.actions[0], reply.actions[2]);
  EXPECT_NE(reply.actions[0], reply.actions[1]);
  EXPECT_THAT(reply.actions[0].text, HasSubstr("softmax_rows_kernel"));

  const auto refused = std::get<WeightsLoaded>(ask(LoadWeights{
      .id = 2, .run = RunId(1), .policy = "grammar", .path = "/no/such/file.safetensors"}));
  EXPECT_THAT(refused.problem, HasSubstr("/no/such/file"));

  ends->first = FrameSocket();
  const auto gone = child->Wait(kLimit);
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->status, 0);
}

}  // namespace
}  // namespace warpsmith
