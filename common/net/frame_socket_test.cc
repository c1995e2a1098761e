#include "common/net/frame_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FrameSocketTest : public testing::Test {
 protected:
  FrameSocketTest() {
    auto pair = FrameSocket::MakePair();
    EXPECT_TRUE(pair) << pair.error().message;
    supervisor_ = std::move(pair->first);
    child_ = std::move(pair->second);
  }

  // Bytes that go past the framing, as a hostile peer would send them.
  void Raw(const std::string& bytes) {
    ASSERT_EQ(::send(child_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static std::string Header(uint32_t magic, uint32_t descriptors, uint64_t bytes) {
    std::string header(16, '\0');
    std::memcpy(header.data(), &magic, 4);
    std::memcpy(header.data() + 4, &descriptors, 4);
    std::memcpy(header.data() + 8, &bytes, 8);
    return header;
  }
  ErrorCode ReceiveError(Duration timeout = seconds(20)) {
    auto frame = supervisor_.Receive(timeout);
    EXPECT_FALSE(frame);
    return frame ? ErrorCode::kInternal : frame.error().code;
  }

  static constexpr uint32_t kMagic = 0x31465357;
  FrameSocket supervisor_;
  FrameSocket child_;
};

TEST_F(FrameSocketTest, GarbageIsCorruptAndEndsTheConversation) {
  Raw("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(ReceiveError(), ErrorCode::kCorrupt);
  EXPECT_EQ(child_.Send(std::string("late"), {}, seconds(20)).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(ReceiveError(), ErrorCode::kUnavailable);
}

TEST_F(FrameSocketTest, AFrameOverTheLimitIsCorruptBeforeAnyMemoryIsTaken) {
  Raw(Header(kMagic, 0, kMaxFrameBytes + 1));
  EXPECT_EQ(ReceiveError(), ErrorCode::kCorrupt);
}

TEST_F(FrameSocketTest, AFrameThatClaimsDescriptorsItDoesNotBringIsCorrupt) {
  Raw(Header(kMagic, 1, 2) + "hi");
  EXPECT_EQ(ReceiveError(), ErrorCode::kCorrupt);
}

TEST_F(FrameSocketTest, APeerThatEndsInTheMiddleOfAFrameIsGone) {
  Raw(Header(kMagic, 0, 100) + "only this");
  child_ = FrameSocket();
  EXPECT_EQ(ReceiveError(), ErrorCode::kUnavailable);
}

TEST_F(FrameSocketTest, APeerThatStallsInTheMiddleTimesOutAndMayGoOnLater) {
  Raw(Header(kMagic, 0, 8).substr(0, 5));
  EXPECT_EQ(ReceiveError(milliseconds(5)), ErrorCode::kTimeout);
  Raw(Header(kMagic, 0, 8).substr(5) + "half");
  EXPECT_EQ(ReceiveError(milliseconds(5)), ErrorCode::kTimeout);
  Raw("done");
  auto frame = supervisor_.Receive(seconds(20));
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(frame->bytes, "halfdone");
}

TEST_F(FrameSocketTest, SilenceIsATimeout) {
  EXPECT_EQ(ReceiveError(milliseconds(1)), ErrorCode::kTimeout);
}

TEST_F(FrameSocketTest, SendingToAPeerThatIsGoneSaysSo) {
  child_ = FrameSocket();
  EXPECT_EQ(supervisor_.Send(std::string("hello"), {}, seconds(20)).error().code,
            ErrorCode::kUnavailable);
}

TEST_F(FrameSocketTest, APeerThatReadsNothingMakesASendTimeOutAndCannotBeMisread) {
  const std::string big(16 << 20, 'x');
  EXPECT_EQ(supervisor_.Send(big, {}, milliseconds(20)).error().code, ErrorCode::kTimeout);
  EXPECT_EQ(supervisor_.Send(std::string("next"), {}, seconds(20)).error().code,
            ErrorCode::kUnavailable);
}

TEST_F(FrameSocketTest, AFrameBeyondTheLimitsIsNotSent) {
  const std::vector<int> too_many(kMaxFrameDescriptors + 1, 0);
  EXPECT_EQ(supervisor_.Send(std::string("x"), too_many, seconds(20)).error().code,
            ErrorCode::kInvalidInput);
  ASSERT_TRUE(supervisor_.Send(std::string("y"), {}, seconds(20)));
  EXPECT_EQ(child_.Receive(seconds(20))->bytes, "y");
}

TEST_F(FrameSocketTest, ShutdownEndsAReceiveOfAnotherThread) {
  std::jthread closer([&] {
    std::this_thread::sleep_for(milliseconds(20));
    supervisor_.Shutdown();
  });
  EXPECT_EQ(ReceiveError(), ErrorCode::kUnavailable);
}

TEST_F(FrameSocketTest, FramesArriveWholeAndInOrderWhateverTheirSize) {
  std::vector<size_t> sizes{0, 1, 15, 16, 17, 4096, 5'000'000, 0, 3};
  std::jthread sender([&] {
    for (size_t size : sizes)
      EXPECT_TRUE(
          child_.Send(std::string(size, static_cast<char>('a' + size % 26)), {}, seconds(60)));
  });
  for (size_t size : sizes) {
    auto frame = supervisor_.Receive(seconds(60));
    ASSERT_TRUE(frame) << frame.error().message;
    EXPECT_EQ(frame->bytes, std::string(size, static_cast<char>('a' + size % 26)));
    EXPECT_TRUE(frame->fds.empty());
  }
}

TEST_F(FrameSocketTest, DescriptorsArriveInOrderAndCloseOnExec) {
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  UniqueFd read_end(pipes[0]), write_end(pipes[1]);
  std::vector<int> fds(kMaxFrameDescriptors, read_end.get());
  fds[1] = write_end.get();
  ASSERT_TRUE(child_.Send(std::string("buffers"), fds, seconds(20)));
  ASSERT_TRUE(child_.Send(std::string("none"), {}, seconds(20)));

  auto frame = supervisor_.Receive(seconds(20));
  ASSERT_TRUE(frame) << frame.error().message;
  ASSERT_EQ(frame->fds.size(), kMaxFrameDescriptors);
  EXPECT_TRUE(::fcntl(frame->fds[0].get(), F_GETFD) & FD_CLOEXEC);
  ASSERT_EQ(::write(frame->fds[1].get(), "!", 1), 1);
  char got = 0;
  ASSERT_EQ(::read(read_end.get(), &got, 1), 1);
  EXPECT_EQ(got, '!');
  EXPECT_TRUE(supervisor_.Receive(seconds(20))->fds.empty());
}

}  // namespace
}  // namespace warpsmith
