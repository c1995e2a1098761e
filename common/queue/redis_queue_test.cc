// What only a real server can do to a queue.
#include "common/queue/redis_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <thread>

#include "common/base/unique_fd.h"
#include "common/runtime/files.h"
#include "tests/support/private_redis.h"
#include "tests/support/proc.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class RedisQueueTest : public testing::Test {
 protected:
  RedisQueueTest() : redis_(PrivateRedis::Start()) {
    EXPECT_TRUE(redis_) << redis_.error().message;
  }

  std::unique_ptr<RedisQueue> Connect(const std::string& password = "",
                                      Duration timeout = seconds(20)) {
    return std::move(*RedisQueue::Make({redis_->address(), password, timeout}));
  }

  const std::string kStream = "warpsmith:run:1";
  Result<PrivateRedis> redis_;
};

TEST_F(RedisQueueTest, WhatIsNoAddressIsRefused) {
  for (const char* address : {"", "localhost:6379", "redis://x", "tcp:host", "tcp:host:0",
                              "tcp:host:port", "tcp::6379", "unix:relative"}) {
    auto queue = RedisQueue::Make({.address = address});
    ASSERT_FALSE(queue) << address;
    EXPECT_EQ(queue.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_TRUE(RedisQueue::Make({.address = "tcp:redis.example:6379"}));
}

TEST_F(RedisQueueTest, AFrozenServerIsUnavailableAfterTheTimeLimit) {
  auto queue = Connect("", milliseconds(200));
  EXPECT_TRUE(Soon([&] { return queue->Ping().has_value(); }));
  redis_->Freeze();
  EXPECT_EQ(queue->Ping().error().code, ErrorCode::kUnavailable);
  redis_->Thaw();
  EXPECT_TRUE(Soon([&] { return queue->Ping().has_value(); }));
}

// The server answers NOGROUP at once, whatever BLOCK said: hundreds of errors a second for who only
// asks again.
TEST_F(RedisQueueTest, AReaderOfAStreamThatKeepsVanishingDoesNotSpin) {
  auto queue = Connect();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    redis_->Command({"FLUSHALL"});
    auto read = queue->Read(kStream, 10, milliseconds(20));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->empty());
  }
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(4 * 20));
}

TEST_F(RedisQueueTest, AServerThatIsAwayIsNotAskedInALoop) {
  auto queue = Connect();
  redis_->Kill();
  EXPECT_FALSE(queue->Read(kStream, 1, {}));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(queue->Read(kStream, 1, milliseconds(10)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(40))
      << "it waited between attempts";
}

TEST_F(RedisQueueTest, AReaderThatWaitsWhileTheStreamGoesComesBack) {
  auto queue = Connect();
  ASSERT_TRUE(queue->Publish(kStream, {{"", 0, "x"}}));
  ASSERT_EQ(queue->Read(kStream, 10, {})->size(), 1u);
  std::jthread wiper([&] {
    std::this_thread::sleep_for(milliseconds(30));
    redis_->Command({"FLUSHALL"});
  });
  auto read = queue->Read(kStream, 10, seconds(20));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->empty());
}

// The command reaches the server, and its reply nobody: the entries are given out all the same.
TEST_F(RedisQueueTest, EntriesOfAReplyThatWasLostAreGivenByTheNextRead) {
  auto coordinator = Connect();
  auto learner = Connect("", milliseconds(200));
  std::vector<uint64_t> given;
  const auto has_read = [&](size_t count) {
    return Soon([&] {
      if (auto read = learner->Read(kStream, 1, milliseconds(1)))
        for (const auto& item : *read) given.push_back(item.publish_seq);
      return given.size() >= count;
    });
  };
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 0, "a"}}));
  ASSERT_TRUE(has_read(1));
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 1, "b"}, {"", 2, "c"}}));
  redis_->Freeze();
  ASSERT_FALSE(learner->Read(kStream, 10, {}));
  redis_->Thaw();
  ASSERT_TRUE(Soon([&] {
    return redis_->Command({"XPENDING", kStream, "learner"}).starts_with("3\n");
  }));
  ASSERT_TRUE(has_read(3));
  EXPECT_THAT(given, ElementsAre(0, 1, 2)) << "each once";
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 3, "d"}}));
  ASSERT_TRUE(has_read(4));
  EXPECT_THAT(given, ElementsAre(0, 1, 2, 3));
}

// Evicted by allkeys-lru, which takes key by key.
TEST_F(RedisQueueTest, AStreamThatIsGoneAloneIsNoticedAndFilledAgain) {
  auto coordinator = Connect();
  auto learner = Connect();
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 0, "a"}, {"", 1, "b"}, {"", 2, "c"}}));
  ASSERT_TRUE(coordinator->Trim(kStream, 1));
  redis_->Command({"DEL", kStream});
  EXPECT_TRUE(learner->Read(kStream, 10, {})->empty());
  EXPECT_EQ(*coordinator->End(kStream), 1u) << "less than was published";
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 3, "d"}}));
  EXPECT_EQ(*coordinator->End(kStream), 1u) << "until all is there again";
  ASSERT_TRUE(coordinator->Publish(kStream, {{"", 1, "b"}, {"", 2, "c"}, {"", 3, "d"}}));
  EXPECT_EQ(*coordinator->End(kStream), 4u);
  const auto read = *learner->Read(kStream, 10, {});
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].payload, "d");
  EXPECT_EQ(read[1].payload, "b");
  EXPECT_EQ(read[2].payload, "c");
}

TEST_F(RedisQueueTest, WhatSomebodyElseAddedIsNoTrajectory) {
  auto queue = Connect();
  ASSERT_TRUE(queue->Publish(kStream, {{"", 0, "a"}}));
  redis_->Command({"XADD", kStream, "*", "p", "no number"});
  redis_->Command({"XADD", kStream, "*", "s", "0x1", "p", "no number either"});
  const auto read = *queue->Read(kStream, 10, {});
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].payload, "a");
  EXPECT_EQ(read[1].payload, "");
  EXPECT_EQ(read[2].payload, "");
}

TEST_F(RedisQueueTest, AServerThatForgotTheScriptsIsGivenThemAgain) {
  auto queue = Connect();
  ASSERT_TRUE(queue->Publish(kStream, {{"", 0, "x"}}));
  redis_->Command({"SCRIPT", "FLUSH"});
  ASSERT_TRUE(queue->Publish(kStream, {{"", 1, "y"}}));
  EXPECT_EQ(redis_->Command({"XLEN", kStream}), "2");
}

// A master that became a replica.
TEST_F(RedisQueueTest, AServerThatIsNoMasterAnyMoreIsUnavailable) {
  auto queue = Connect();
  ASSERT_TRUE(queue->Publish(kStream, {{"", 0, "x"}}));
  redis_->Command({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(queue->Publish(kStream, {{"", 1, "y"}}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(queue->Ping().error().code, ErrorCode::kUnavailable);
  redis_->Command({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(queue->Publish(kStream, {{"", 1, "y"}}));
  EXPECT_EQ(queue->Read(kStream, 10, {})->size(), 2u);
}

// Filled by its own records.
TEST_F(RedisQueueTest, AServerThatFillsUpKeepsWhatItHasAndIsEmptiedByTrimming) {
  auto queue = Connect();
  redis_->Command({"CONFIG", "SET", "maxmemory", "3mb"});
  uint64_t seq = 0;
  Status status;
  while (seq < 10'000 && (status = queue->Publish(kStream, {{"", seq, std::string(4096, 'x')}})))
    ++seq;
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(status.error().message, HasSubstr("maxmemory"));
  EXPECT_EQ(redis_->Command({"XLEN", kStream}), std::to_string(seq));
  ASSERT_TRUE(queue->Read(kStream, 100, {}));
  ASSERT_TRUE(queue->Trim(kStream, seq));
  EXPECT_TRUE(queue->Publish(kStream, {{"", seq, std::string(4096, 'x')}}));
}

TEST_F(RedisQueueTest, AWrongPasswordSaysSo) {
  redis_->Command({"CONFIG", "SET", "requirepass", "secret"});
  auto without = Connect();
  auto status = without->Ping();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(status.error().message, HasSubstr("WARPSMITH_REDIS_PASSWORD"));
  EXPECT_EQ(Connect("wrong")->Ping().error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(Connect("secret")->Ping());
  redis_->Kill();
  ASSERT_TRUE(redis_->StartAgain());
  EXPECT_THAT(Connect("secret")->Ping().error().message, HasSubstr("unset"));
}

// Answers whatever it is asked with the same bytes, and then hangs up.
class CannedServer {
 public:
  explicit CannedServer(std::string answer) : answer_(std::move(answer)) {
    sockaddr_un name{.sun_family = AF_UNIX, .sun_path = {}};
    path().copy(name.sun_path, sizeof name.sun_path - 1);
    listening_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    EXPECT_EQ(::listen(listening_.get(), 8), 0);
    thread_ = std::jthread([this] {
      for (;;) {
        const UniqueFd peer(::accept(listening_.get(), nullptr, nullptr));
        if (!peer.valid()) return;
        char question[4096];
        if (::recv(peer.get(), question, sizeof question, 0) > 0)
          (void)::send(peer.get(), answer_.data(), answer_.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~CannedServer() { ::shutdown(listening_.get(), SHUT_RDWR); }
  std::string path() const { return (folder_.path() / "socket").string(); }

 private:
  const std::string answer_;
  TempDirectory folder_ = *TempDirectory::Make("canned-server");
  UniqueFd listening_;
  std::jthread thread_;
};

TEST(RedisErrors, AreToldApartByWhatACallerDoes) {
  const std::pair<const char*, ErrorCode> answers[] = {
      {"-LOADING Redis is loading the dataset in memory\r\n", ErrorCode::kUnavailable},
      {"-MASTERDOWN Link with MASTER is down\r\n", ErrorCode::kUnavailable},
      {"-READONLY You can't write against a read only replica.\r\n", ErrorCode::kUnavailable},
      {"-BUSY Redis is busy running a script.\r\n", ErrorCode::kUnavailable},
      {"-OOM command not allowed when used memory > 'maxmemory'.\r\n", ErrorCode::kExhausted},
      {"-MISCONF Redis is configured to save RDB snapshots\r\n", ErrorCode::kExhausted},
      {"-NOAUTH Authentication required.\r\n", ErrorCode::kInvalidInput},
      {"-NOPERM this user has no permissions\r\n", ErrorCode::kInternal},
      {"-ERR max number of clients reached\r\n", ErrorCode::kUnavailable},
      {"", ErrorCode::kUnavailable},
      {"*3\r\n$5\r\nha", ErrorCode::kUnavailable},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", ErrorCode::kUnavailable},
  };
  for (const auto& [answer, code] : answers) {
    CannedServer server(answer);
    const RedisOptions options{.address = "unix:" + server.path(), .timeout = seconds(20)};
    const auto read = (*RedisQueue::Make(options))->Read("s", 10, {});
    ASSERT_FALSE(read) << answer;
    EXPECT_EQ(read.error().code, code) << answer << read.error().message;
    EXPECT_EQ((*RedisQueue::Make(options))->Publish("s", {{"", 0, "x"}}).error().code, code)
        << answer;
  }
}

}  // namespace
}  // namespace warpsmith
