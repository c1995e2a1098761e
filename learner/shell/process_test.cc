// A whole learner process but for libtorch: sockets, threads, a real Redis server.
#include "learner/shell/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "common/net/zmq_transport.h"
#include "common/queue/redis_queue.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"
#include "learner/shell/testing_story.h"
#include "tests/support/private_redis.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

class LearnerProcessTest : public testing::Test {
 protected:
  LearnerProcessTest() : redis_(PrivateRedis::Start()) {
    EXPECT_TRUE(redis_) << redis_.error().message;
    config_.coordinator = "ipc://" + (folder_.path() / "coordinator").string();
    config_.directory = folder_.path() / "learner";
    config_.weights_endpoint = "ipc://" + (folder_.path() / "weights").string();
    config_.repeat = milliseconds(200);
    coordinator_ = *RouterTransport::Bind(config_.coordinator);
    queue_ = *RedisQueue::Make({.address = redis_->address()});
    spec_.algorithm.group = 2;
    spec_.algorithm.batch_episodes = 4;
    StartProcess();
  }
  ~LearnerProcessTest() override { EXPECT_TRUE(StopProcess()); }

  void StartProcess() {
    process_ = std::jthread([this] {
      ended_ = RunLearnerProcess(config_, signals_, FakeTrainer::Maker(&disk_is_full_));
    });
  }
  Status StopProcess() {
    signals_.Request();
    process_.join();
    return ended_;
  }

  // The next message of this kind; others are answered as a coordinator does, or ignored.
  template <typename Message>
  Message Next(std::function<bool(const Message&)> wanted = [](const Message&) { return true; }) {
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      auto envelope = coordinator_->Receive(milliseconds(100));
      if (!envelope) continue;
      peer_ = envelope->peer;
      const auto message = std::get<LearnerMessage>(*Decode<ToCoordinator>(envelope->bytes));
      if (auto* checkpoint = std::get_if<CheckpointDurable>(&message))
        Tell(AckCheckpoint{checkpoint->run, checkpoint->version});
      if (auto* found = std::get_if<Message>(&message); found && wanted(*found)) return *found;
    }
    ADD_FAILURE() << "the learner never said it";
    return {};
  }
  void Tell(const CoordinatorToLearner& message) {
    EXPECT_TRUE(coordinator_->Send({peer_, Encode(FromCoordinator(message))}));
  }
  void Welcome() {
    Next<RegisterLearner>();
    Tell(WelcomeLearner{1, 1, seconds(1), redis_->address()});
    Tell(TrainRun{run_, spec_, kStream});
  }
  void Publish(uint64_t first_group, uint64_t end_group) {
    std::vector<QueuedTrajectory> batch;
    for (uint64_t group = first_group; group < end_group; ++group)
      for (uint32_t episode = 0; episode < 2; ++episode)
        batch.push_back({"", 2 * group + episode,
                         Encode(EpisodeOf(run_, group, episode, PolicyVersion{1, 0}))});
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    Status published;
    while (!(published = queue_->Publish(kStream, batch)) &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(5));
    EXPECT_TRUE(published) << published.error().message;
  }

  const RunId run_{1};
  const std::string kStream = "warpsmith:run:1:1";
  TempDirectory folder_ = *TempDirectory::Make("learner-process");
  Result<PrivateRedis> redis_;
  LearnerConfig config_;
  RunSpec spec_;
  StopSignals signals_;
  bool disk_is_full_ = false;
  std::unique_ptr<RouterTransport> coordinator_;
  std::unique_ptr<RedisQueue> queue_;
  std::string peer_;
  Status ended_;
  std::jthread process_;
};

TEST_F(LearnerProcessTest, TrainsARunThroughARedisThatDiesAndComesBackEmpty) {
  Welcome();
  EXPECT_EQ(Next<WeightsAnnouncement>().version, (PolicyVersion{1, 0}));
  Publish(0, 2);
  EXPECT_THAT(Next<CheckpointDurable>().consumed, SizeIs(4));

  redis_->Kill();
  ASSERT_TRUE(redis_->StartAgain());
  Publish(2, 5);
  EXPECT_THAT(Next<CheckpointDurable>([](auto& c) { return c.version.step == 2; }).consumed,
              SizeIs(4));
  Tell(CloseRun{run_, 10});
  EXPECT_THAT(Next<CheckpointDurable>([](auto& c) { return c.version.step == 3; }).consumed,
              SizeIs(2));
  EXPECT_EQ(Next<RunTrained>().version, (PolicyVersion{1, 3}));
}

TEST_F(LearnerProcessTest, WorkersPullWhatWasAnnounced) {
  Welcome();
  const auto announced = Next<WeightsAnnouncement>();
  auto worker = *DealerTransport::Connect(announced.endpoint, "w1");
  const auto deadline = std::chrono::steady_clock::now() + seconds(60);
  std::optional<Envelope> answer;
  while (!answer && std::chrono::steady_clock::now() < deadline) {
    (void)worker->Send(
        {"", Encode(WeightsRequest(ChunkRequest{run_, announced.version, 0, 1000}))});
    answer = worker->Receive(milliseconds(50));
  }
  ASSERT_TRUE(answer);
  const auto reply = *Decode<WeightsReply>(answer->bytes);
  EXPECT_EQ(Sha256Hex(std::get<Chunk>(reply).bytes), announced.sha256);
}

TEST_F(LearnerProcessTest, ARefusalEndsTheProcessWithItsReason) {
  Next<RegisterLearner>();
  Tell(Refused{"a newer learner has taken over"});
  process_.join();
  ASSERT_FALSE(ended_);
  EXPECT_EQ(ended_.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(ended_.error().message, HasSubstr("a newer learner"));
  StartProcess();
}

TEST_F(LearnerProcessTest, AWeightsAddressInUseIsSaidAtOnce) {
  Welcome();
  LearnerConfig second = config_;
  second.directory += "-second";
  const Status ended = RunLearnerProcess(second, signals_, FakeTrainer::Maker(&disk_is_full_));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kExhausted);
}

TEST_F(LearnerProcessTest, ADirectoryInUseIsSaidAtOnceAndIsFreeWhenTheFirstHasEnded) {
  Welcome();
  Next<WeightsAnnouncement>();
  LearnerConfig second = config_;
  second.weights_endpoint = "ipc://" + (folder_.path() / "weights-second").string();
  const Status ended = RunLearnerProcess(second, signals_, FakeTrainer::Maker(&disk_is_full_));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(ended.error().message, HasSubstr("another learner runs in"));

  Tell(Refused{"enough"});
  process_.join();
  StartProcess();
  Next<RegisterLearner>();
}

TEST(LearnerConfig, ProblemsAreReportedTogether) {
  LearnerConfig config;
  const char* argv[] = {"warpsmith-learner", "--keep", "1", "--directory", ""};
  const auto action = LoadConfig(5, argv, &config);
  ASSERT_FALSE(action);
  EXPECT_THAT(action.error().message, HasSubstr("keep must be at least 2"));
  EXPECT_THAT(action.error().message, HasSubstr("directory: must be set"));
}

}  // namespace
}  // namespace warpsmith
