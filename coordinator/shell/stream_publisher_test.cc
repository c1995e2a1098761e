// Trajectories reach the stream in order, whatever Redis does.
#include "coordinator/shell/stream_publisher.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "common/queue/memory_queue.h"
#include "coordinator/core/testing.h"
#include "coordinator/shell/memory_store.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;

constexpr auto kPatience = std::chrono::seconds(30);  // against hanging only
const RunId kRun(1);

class StreamPublisherTest : public testing::Test {
 protected:
  StreamPublisherTest() {
    store.Start({[](Stored) {}, [](StoreHealth) {}, [](const ClientId&, ClientAnswer) {}});
    store.Write({1, {RunAdded{kRun, "key", GrammarSpec(), 0}}});
    StreamPublisherOptions options;
    options.check = milliseconds(5);
    options.stalled = milliseconds(40);
    options.backoff = milliseconds(2);
    options.backoff_cap = milliseconds(8);
    options.batch = 3;
    publisher.emplace(
        std::make_unique<MemoryQueue>(broker), std::move(*store.OpenReader()),
        [this](RedisHealth h) {
          std::lock_guard lock(mutex);
          health = std::move(h);
          changed.notify_all();
        },
        options);
  }
  void Accept(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i, ++accepted)
      store.Write(
          {accepted + 2,
           {TrajectoryAccepted{JobId(1), accepted,
                               MakeTrajectory({kRun, GroupId(0), static_cast<uint32_t>(accepted)},
                                              TaskId("small/add"), 1)}}});
    publisher->Do(ExtendStream{kRun, accepted});
  }
  // Reads as a learner would until `count` have come.
  std::vector<uint64_t> Read(const std::string& stream, size_t count) {
    MemoryQueue learner(broker);
    std::vector<uint64_t> places;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (places.size() < count && std::chrono::steady_clock::now() < end) {
      auto entries = learner.Read(stream, 100, {});
      if (entries)
        for (const auto& entry : *entries) places.push_back(entry.publish_seq);
      if (places.size() < count) std::this_thread::sleep_for(milliseconds(1));
    }
    return places;
  }
  void AwaitHealth(bool ok) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kPatience, [&] { return health.ok == ok; }));
  }

  std::shared_ptr<MemoryBroker> broker = std::make_shared<MemoryBroker>();
  MemoryStore store{"c"};
  uint64_t accepted = 0;
  std::mutex mutex;
  std::condition_variable changed;
  RedisHealth health;
  std::optional<StreamPublisher> publisher;
};

TEST_F(StreamPublisherTest, PublishesEverythingInOrderFromTheOpeningOn) {
  Accept(4);  // before anybody wants them
  publisher->Do(OpenStream{kRun, "s", 1, 4});
  Accept(5);
  EXPECT_EQ(Read("s", 8), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(StreamPublisherTest, RedisAwayIsToldAndNothingIsLost) {
  publisher->Do(OpenStream{kRun, "s", 0, 0});
  broker->SetAway(true);
  Accept(5);
  AwaitHealth(false);
  broker->SetAway(false);
  AwaitHealth(true);
  EXPECT_EQ(Read("s", 5).size(), 5u);
}

TEST_F(StreamPublisherTest, RedisAwayIsNoticedAlsoWhenThereIsNothingToPublish) {
  broker->SetAway(true);
  AwaitHealth(false);
  broker->SetAway(false);
  AwaitHealth(true);
}

TEST_F(StreamPublisherTest, AFullRedisIsWaitedFor) {
  publisher->Do(OpenStream{kRun, "s", 0, 0});
  broker->SetFull(true);
  Accept(5);
  AwaitHealth(false);
  broker->SetFull(false);
  EXPECT_EQ(Read("s", 5).size(), 5u);
}

TEST_F(StreamPublisherTest, AWipedRedisIsFilledAgainWithWhatIsNotConsumed) {
  publisher->Do(OpenStream{kRun, "s", 0, 0});
  Accept(6);
  EXPECT_EQ(Read("s", 6).size(), 6u);
  publisher->Do(TrimStream{kRun, 2});
  broker->Wipe();
  EXPECT_EQ(Read("s", 4), (std::vector<uint64_t>{2, 3, 4, 5}));
}

TEST_F(StreamPublisherTest, ALossThatTheEndHidesIsMadeGoodWhenNothingIsConsumed) {
  publisher->Do(OpenStream{kRun, "s", 0, 0});
  Accept(3);
  EXPECT_EQ(Read("s", 3).size(), 3u);
  broker->Wipe();
  MemoryQueue other(broker);  // as if 2 had been published between the wipe and the next look
  ASSERT_TRUE(other.Publish("s", {{"", 2, "payload"}}));
  auto places = Read("s", 3);
  std::sort(places.begin(), places.end());
  EXPECT_EQ(places, (std::vector<uint64_t>{0, 1, 2}));
}

TEST_F(StreamPublisherTest, ANewLearnersStreamStartsAtItsBaseAndTheOldOneGoes) {
  publisher->Do(OpenStream{kRun, "s:1", 0, 0});
  Accept(4);
  EXPECT_EQ(Read("s:1", 4).size(), 4u);
  publisher->Do(OpenStream{kRun, "s:2", 2, 4});
  EXPECT_EQ(Read("s:2", 2), (std::vector<uint64_t>{2, 3}));
  MemoryQueue queue(broker);
  EXPECT_EQ(*queue.End("s:1"), 0u);
}

}  // namespace
}  // namespace warpsmith
