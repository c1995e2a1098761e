// What every TrajectoryQueue keeps to, against memory and against a real Redis server.
#include "common/queue/trajectory_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/queue/memory_queue.h"
#include "common/queue/redis_queue.h"
#include "tests/support/private_redis.h"

namespace warpsmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A server, as a test sees it.
class Server {
 public:
  virtual ~Server() = default;
  virtual std::unique_ptr<TrajectoryQueue> Connect() = 0;
  virtual void Wipe() = 0;
  virtual void LoseEntry(const std::string& stream, const QueuedTrajectory& item) = 0;
  virtual void FillUp() = 0;
  virtual void MakeRoom() = 0;
  virtual void GoAway() = 0;
  virtual void ComeBackEmpty() = 0;
};

class MemoryServer : public Server {
 public:
  std::unique_ptr<TrajectoryQueue> Connect() override {
    return std::make_unique<MemoryQueue>(broker_);
  }
  void Wipe() override { broker_->Wipe(); }
  void LoseEntry(const std::string& stream, const QueuedTrajectory& item) override {
    broker_->LosePayload(stream, item.publish_seq);
  }
  void FillUp() override { broker_->SetFull(true); }
  void MakeRoom() override { broker_->SetFull(false); }
  void GoAway() override { broker_->SetAway(true); }
  void ComeBackEmpty() override {
    broker_->Wipe();
    broker_->SetAway(false);
  }

 private:
  std::shared_ptr<MemoryBroker> broker_ = std::make_shared<MemoryBroker>();
};

class RedisServer : public Server {
 public:
  RedisServer() : redis_(PrivateRedis::Start()) { EXPECT_TRUE(redis_) << redis_.error().message; }
  std::unique_ptr<TrajectoryQueue> Connect() override {
    return std::move(*RedisQueue::Make({.address = redis_->address()}));
  }
  void Wipe() override { redis_->Command({"FLUSHALL"}); }
  void LoseEntry(const std::string& stream, const QueuedTrajectory& item) override {
    redis_->Command({"XDEL", stream, item.entry});
  }
  void FillUp() override { redis_->Command({"CONFIG", "SET", "maxmemory", "1"}); }
  void MakeRoom() override { redis_->Command({"CONFIG", "SET", "maxmemory", "0"}); }
  void GoAway() override { redis_->Kill(); }
  void ComeBackEmpty() override { EXPECT_TRUE(redis_->StartAgain()); }

 private:
  Result<PrivateRedis> redis_;
};

class TrajectoryQueueTest : public testing::TestWithParam<std::string> {
 protected:
  TrajectoryQueueTest() {
    if (GetParam() == "Memory") {
      server_ = std::make_unique<MemoryServer>();
    } else {
      server_ = std::make_unique<RedisServer>();
    }
    coordinator_ = server_->Connect();
    learner_ = server_->Connect();
  }

  static std::string Payload(uint64_t seq) { return "trajectory " + std::to_string(seq); }
  Status Publish(uint64_t first, uint64_t end) {
    std::vector<QueuedTrajectory> batch;
    for (uint64_t seq = first; seq < end; ++seq) batch.push_back({"", seq, Payload(seq)});
    return coordinator_->Publish(kStream, batch);
  }
  // What the learner is given next; every payload belongs to its number.
  std::vector<QueuedTrajectory> Given(size_t limit = 100) {
    auto read = learner_->Read(kStream, limit, std::chrono::milliseconds(1));
    EXPECT_TRUE(read) << read.error().message;
    if (!read) return {};
    for (const auto& item : *read) {
      if (!item.payload.empty()) {
        EXPECT_EQ(item.payload, Payload(item.publish_seq));
      }
    }
    return *read;
  }
  std::vector<uint64_t> Numbers(size_t limit = 100) {
    std::vector<uint64_t> numbers;
    for (const auto& item : Given(limit)) numbers.push_back(item.publish_seq);
    return numbers;
  }
  void Acknowledge(const std::vector<QueuedTrajectory>& items) {
    std::vector<std::string> entries;
    for (const auto& item : items) entries.push_back(item.entry);
    auto status = learner_->Acknowledge(kStream, entries);
    EXPECT_TRUE(status) << status.error().message;
  }
  uint64_t End() { return coordinator_->End(kStream).value_or(999'999); }
  void LearnerStartsAgain() { learner_ = server_->Connect(); }

  const std::string kStream = "warpsmith:run:1";
  std::unique_ptr<Server> server_;
  std::unique_ptr<TrajectoryQueue> coordinator_;
  std::unique_ptr<TrajectoryQueue> learner_;
};

INSTANTIATE_TEST_SUITE_P(All, TrajectoryQueueTest, testing::Values("Memory", "Redis"),
                         [](const auto& server) { return server.param; });

TEST_P(TrajectoryQueueTest, AServerThatIsAwayIsUnavailableForEveryCall) {
  ASSERT_TRUE(Publish(0, 1));
  server_->GoAway();
  EXPECT_EQ(coordinator_->Ping().error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(Publish(1, 2).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(coordinator_->End(kStream).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(coordinator_->Trim(kStream, 1).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(learner_->Read(kStream, 1, {}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(learner_->Acknowledge(kStream, {"1-1"}).error().code, ErrorCode::kUnavailable);
}

TEST_P(TrajectoryQueueTest, AServerThatComesBackEmptyServesTheSameObjects) {
  ASSERT_TRUE(Publish(0, 3));
  EXPECT_THAT(Numbers(), ElementsAre(0, 1, 2));
  server_->GoAway();
  EXPECT_FALSE(learner_->Read(kStream, 1, {}));
  server_->ComeBackEmpty();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!Publish(0, 4) && std::chrono::steady_clock::now() < deadline) {
  }
  Result<std::vector<QueuedTrajectory>> read;
  while (!(read = learner_->Read(kStream, 100, std::chrono::milliseconds(20))) &&
         std::chrono::steady_clock::now() < deadline) {
  }
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->size(), 4u);
}

TEST_P(TrajectoryQueueTest, AFullServerTakesNothingAndStillGivesAndForgets) {
  ASSERT_TRUE(Publish(0, 3));
  auto given = Given(2);
  server_->FillUp();
  EXPECT_EQ(coordinator_->Ping().error().code, ErrorCode::kExhausted);
  EXPECT_EQ(Publish(3, 4).error().code, ErrorCode::kExhausted);
  EXPECT_THAT(Numbers(), ElementsAre(2));
  Acknowledge(given);
  EXPECT_TRUE(coordinator_->Trim(kStream, 2));
  server_->MakeRoom();
  ASSERT_TRUE(Publish(3, 4)) << "what was refused is taken when there is room";
  EXPECT_THAT(Numbers(), ElementsAre(3));
}

TEST_P(TrajectoryQueueTest, NothingThereIsNoError) { EXPECT_THAT(Numbers(), IsEmpty()); }

TEST_P(TrajectoryQueueTest, EntriesComeInOrderOnceAndUpToTheLimit) {
  ASSERT_TRUE(Publish(0, 5));
  EXPECT_THAT(Numbers(2), ElementsAre(0, 1));
  EXPECT_THAT(Numbers(), ElementsAre(2, 3, 4));
  EXPECT_THAT(Numbers(), IsEmpty());
}

TEST_P(TrajectoryQueueTest, PublishingAgainIsHarmless) {
  ASSERT_TRUE(Publish(0, 3));
  ASSERT_TRUE(Publish(1, 5));
  EXPECT_THAT(Numbers(), ElementsAre(0, 1, 2, 3, 4));
  ASSERT_TRUE(Publish(0, 5));
  EXPECT_THAT(Numbers(), IsEmpty());
}

TEST_P(TrajectoryQueueTest, WhatIsTrimmedDoesNotComeBackByPublishingAgain) {
  ASSERT_TRUE(Publish(0, 5));
  Acknowledge(Given(3));
  ASSERT_TRUE(coordinator_->Trim(kStream, 3));
  ASSERT_TRUE(Publish(0, 6));
  EXPECT_THAT(Numbers(), ElementsAre(3, 4, 5));
  EXPECT_EQ(End(), 6u);
}

TEST_P(TrajectoryQueueTest, TrimmingTwiceOrBeforeAnythingIsHarmless) {
  ASSERT_TRUE(coordinator_->Trim(kStream, 2));
  ASSERT_TRUE(coordinator_->Trim(kStream, 1));
  ASSERT_TRUE(Publish(0, 4));
  EXPECT_THAT(Numbers(), ElementsAre(2, 3));
}

TEST_P(TrajectoryQueueTest, ALearnerThatStartsAgainIsGivenWhatWasNotAcknowledged) {
  ASSERT_TRUE(Publish(0, 6));
  auto first = Given(2);
  Given(2);
  Acknowledge(first);
  LearnerStartsAgain();
  EXPECT_THAT(Numbers(1), ElementsAre(2));
  EXPECT_THAT(Numbers(), ElementsAre(3));
  EXPECT_THAT(Numbers(), ElementsAre(4, 5));
  EXPECT_THAT(Numbers(), IsEmpty());
}

// An entry that is gone while somebody was given it.
TEST_P(TrajectoryQueueTest, AnEntryThatWasLostIsReportedAndCanBeAcknowledged) {
  ASSERT_TRUE(Publish(0, 3));
  auto given = Given();
  ASSERT_EQ(given.size(), 3u);
  server_->LoseEntry(kStream, given[1]);
  LearnerStartsAgain();
  auto again = Given();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[1].entry, given[1].entry);
  EXPECT_EQ(again[1].payload, "");
  Acknowledge(again);
  LearnerStartsAgain();
  EXPECT_THAT(Numbers(), IsEmpty());
  EXPECT_LT(End(), 3u) << "it is not consumed, and so has to be published again";
  ASSERT_TRUE(Publish(0, 3));
  EXPECT_THAT(Numbers(), ElementsAre(1));
  EXPECT_EQ(End(), 3u);
}

// What the coordinator does about it: publish again.
TEST_P(TrajectoryQueueTest, AWipedServerIsNoticedAndFilledAgain) {
  ASSERT_TRUE(Publish(0, 6));
  Acknowledge(Given(2));
  EXPECT_EQ(End(), 6u);
  server_->Wipe();
  EXPECT_EQ(End(), 0u) << "less than was published";
  EXPECT_THAT(Numbers(), IsEmpty());
  ASSERT_TRUE(Publish(2, 6));
  EXPECT_THAT(Numbers(), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(End(), 6u);
}

TEST_P(TrajectoryQueueTest, AWipedServerMayBeFilledAgainBehindWhatCameSince) {
  ASSERT_TRUE(Publish(0, 6));
  server_->Wipe();
  ASSERT_TRUE(Publish(6, 8)) << "the wipe was not noticed yet";
  ASSERT_TRUE(Publish(2, 8));
  EXPECT_THAT(Numbers(), ElementsAre(6, 7, 2, 3, 4, 5));
  EXPECT_EQ(End(), 8u);
}

TEST_P(TrajectoryQueueTest, AnEntryOfTheTimeBeforeAWipeAcknowledgesNothingNew) {
  ASSERT_TRUE(Publish(0, 2));
  auto before = Given();
  server_->Wipe();
  ASSERT_TRUE(Publish(0, 2));
  EXPECT_THAT(Numbers(), ElementsAre(0, 1));
  Acknowledge(before);
  LearnerStartsAgain();
  EXPECT_THAT(Numbers(), ElementsAre(0, 1));
}

TEST_P(TrajectoryQueueTest, StreamsDoNotMix) {
  ASSERT_TRUE(Publish(0, 1));
  ASSERT_TRUE(coordinator_->Publish("warpsmith:run:2", {{"", 0, "other"}}));
  EXPECT_THAT(Numbers(), ElementsAre(0));
  EXPECT_EQ(learner_->Read("warpsmith:run:2", 10, {})->at(0).payload, "other");
  ASSERT_TRUE(coordinator_->Drop("warpsmith:run:2"));
  EXPECT_EQ(*coordinator_->End("warpsmith:run:2"), 0u);
  EXPECT_EQ(End(), 1u);
}

TEST_P(TrajectoryQueueTest, AnyBytesAndManyEntriesSurvive) {
  std::vector<QueuedTrajectory> batch;
  for (uint64_t seq = 0; seq < 300; ++seq)
    batch.push_back({"", seq, std::string("\0\r\n$-1\r\n", 8) + std::string(10'000, '\xff')});
  ASSERT_TRUE(coordinator_->Publish(kStream, batch));
  auto read = learner_->Read(kStream, 1000, {});
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 300u);
  EXPECT_EQ(read->back().payload, batch[0].payload);
  Acknowledge(*read);
  ASSERT_TRUE(coordinator_->Trim(kStream, 300));
  EXPECT_EQ(End(), 300u);
}

}  // namespace
}  // namespace warpsmith
