// What only a real server can do to a queue.
#include "common/queue/redis_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/private_redis.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
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
  auto queue = Connect("", milliseconds(50));
  ASSERT_TRUE(queue->Ping());
  redis_->Freeze();
  EXPECT_EQ(queue->Ping().error().code, ErrorCode::kUnavailable);
  redis_->Thaw();
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  Status status;
  while (!(status = queue->Ping()) && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_TRUE(status) << status.error().message;
}

// Case G1: 600 errors a second elsewhere.
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

TEST_F(RedisQueueTest, AServerThatForgotTheScriptsIsGivenThemAgain) {
  auto queue = Connect();
  ASSERT_TRUE(queue->Publish(kStream, {{"", 0, "x"}}));
  redis_->Command({"SCRIPT", "FLUSH"});
  ASSERT_TRUE(queue->Publish(kStream, {{"", 1, "y"}}));
  EXPECT_EQ(redis_->Command({"XLEN", kStream}), "2");
}

// Case G5: a master that became a replica.
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

// Case G6: filled by its own records.
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
}

}  // namespace
}  // namespace warpsmith
