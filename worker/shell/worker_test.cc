// The real worker process, with the simulated device and a fake policy; the test is its coordinator
// and its learner.
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "common/model/outcome.h"
#include "common/model/trajectory.h"
#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/sha256.h"
#include "common/runtime/subprocess.h"
#include "common/wire/codec.h"
#include "schema/coordinator.h"
#include "tests/support/proc.h"
#include "worker/shell/config.h"
#include "worker/shell/weights_puller.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kPatience = 60s;

class WorkerProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(*TempDirectory::Make("worker-test"));
    fs::create_symlink(ProgramDirectory() / "worker_fake_child", folder_.path() / "policy");
    router_ = *RouterTransport::Bind("ipc://" + (folder_.path() / "coordinator").string());
  }

  void StartWorker(std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {(ProgramDirectory() / "warpsmith-worker").string(),
                                     "--coordinator",
                                     router_->endpoint(),
                                     "--device",
                                     "simulated",
                                     "--directory",
                                     (folder_.path() / "w").string(),
                                     "--policy-program",
                                     (folder_.path() / "policy").string()};
    argv.insert(argv.end(), more.begin(), more.end());
    auto started = Subprocess::Start({.argv = argv, .stderr_path = folder_.path() / "worker.log"});
    ASSERT_TRUE(started) << started.error().message;
    worker_ = *std::move(started);
  }

  void Say(CoordinatorToWorker message) {
    (void)router_->Send({peer_, Encode(FromCoordinator(std::move(message)))});
  }

  // The next message of the worker's; heartbeats are answered on the way.
  std::optional<WorkerMessage> Next(Duration patience = kPatience) {
    TimePoint end = SystemClock().Now() + patience;
    while (SystemClock().Now() < end) {
      auto envelope = router_->Receive(100ms);
      if (!envelope) continue;
      Result<ToCoordinator> message = Decode<ToCoordinator>(envelope->bytes);
      EXPECT_TRUE(message) << message.error().message;
      peer_ = envelope->peer;
      auto mine = std::get<WorkerMessage>(*std::move(message));
      if (std::holds_alternative<Heartbeat>(mine)) {
        Say(HeartbeatReply{1});
        continue;
      }
      return mine;
    }
    return std::nullopt;
  }
  // The next message of one kind; others are dropped.
  template <typename Message>
  std::optional<Message> Await(Duration patience = kPatience) {
    TimePoint end = SystemClock().Now() + patience;
    while (auto message = Next(end - SystemClock().Now())) {
      if (auto* found = std::get_if<Message>(&*message)) return *found;
    }
    return std::nullopt;
  }
  void Welcome() {
    auto registered = Await<RegisterWorker>();
    ASSERT_TRUE(registered) << Log();
    registered_ = *registered;
    Say(WelcomeWorker{.epoch = 1, .heartbeat = 200ms, .lease = 30s});
  }

  static RolloutJob Rollout(std::vector<uint32_t> episodes) {
    RolloutJob job{.run = RunId(3),
                   .group = GroupId(9),
                   .policy = "random",
                   .episodes = std::move(episodes),
                   .turns = 2,
                   .seed = 7};
    job.task = {.id = TaskId("s/t"), .outputs = {{.name = "y"}}};
    job.task.host_cases = {{CaseRole::kTrain, {{"n", 64}}}};
    return job;
  }
  void Assign(uint64_t id, RolloutJob job) {
    Say(AssignJob{.job = JobId(id),
                  .fence = {1, 1},
                  .lease = 30s,
                  .total_deadline = 600s,
                  .body = std::move(job)});
  }

  static std::vector<int> Children(int parent) {
    std::vector<int> pids;
    for (const ProcessState& process : AllProcesses()) {
      if (process.parent == parent && !process.ended()) pids.push_back(process.pid);
    }
    return pids;
  }
  std::string Log() { return ReadFile(folder_.path() / "worker.log").value_or("no log"); }

  TempDirectory folder_;
  std::unique_ptr<RouterTransport> router_;
  std::string peer_;
  RegisterWorker registered_;
  Subprocess worker_;
};

TEST_F(WorkerProcess, RegistersWithItsDevicesAndRunsAJob) {
  StartWorker();
  Welcome();
  ASSERT_EQ(registered_.devices.size(), 1u);
  EXPECT_EQ(registered_.devices[0].kind, DeviceKind::kSimulated);
  EXPECT_EQ(registered_.policies, (std::vector<std::string>{"grammar", "random"}));
  Assign(5, Rollout({0, 1, 2}));
  std::set<uint32_t> episodes;
  while (episodes.size() < 3) {
    auto result = Await<TrajectoryResult>();
    ASSERT_TRUE(result) << Log();
    EXPECT_EQ(result->trajectory.turns.size(), 2u);
    EXPECT_EQ(OutcomeLabel(result->trajectory.turns[0].evaluation.outcome), "correct");
    EXPECT_GT(result->trajectory.finished_at_ms, 0);
    episodes.insert(result->trajectory.id.episode);
    Say(AckTrajectory{result->trajectory.id});
  }
}

TEST_F(WorkerProcess, SaysWhatIsWrongWithItsConfiguration) {
  StartWorker({"--capacity", "0", "--devise", "x"});
  auto exit = worker_.Wait(kPatience);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 2);
  EXPECT_NE(Log().find("capacity"), std::string::npos);
  EXPECT_NE(Log().find("devise"), std::string::npos) << "all problems at once";
}

TEST_F(WorkerProcess, SharesItsFolderWithNoOtherWorker) {
  StartWorker();
  ASSERT_TRUE(Await<RegisterWorker>()) << Log();
  Subprocess first = std::move(worker_);
  StartWorker();
  auto exit = worker_.Wait(kPatience);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 5);
  EXPECT_NE(Log().find("choose another --directory"), std::string::npos) << Log();
  EXPECT_TRUE(first.running());
}

TEST_F(WorkerProcess, EmptiesNoFolderThatIsNotItsOwn) {
  for (const char* name : {"weights", "scratch"}) {
    const fs::path folder = folder_.path() / "w" / name;
    fs::create_directories(folder);
    ASSERT_TRUE(WriteFileAtomically(folder / "mine", "years of work"));
    StartWorker();
    auto exit = worker_.Wait(kPatience);
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->status, 2);
    EXPECT_NE(Log().find("another --directory"), std::string::npos) << Log();
    EXPECT_EQ(ReadFile(folder / "mine").value_or(""), "years of work");
    fs::remove_all(folder_.path() / "w");
  }
  fs::create_directories(folder_.path() / "w" / "weights");  // of nothing there is nothing to lose
  StartWorker();
  EXPECT_TRUE(Await<RegisterWorker>()) << Log();
  kill(worker_.pid(), SIGKILL);
  ASSERT_TRUE(worker_.Wait(kPatience));
  const fs::path left = folder_.path() / "w" / "weights" / "run-1";
  ASSERT_TRUE(WriteFileAtomically(left, "of a life before"));
  StartWorker();
  TimePoint end = SystemClock().Now() + kPatience;
  while (fs::exists(left) && SystemClock().Now() < end) router_->Receive(20ms);
  EXPECT_FALSE(fs::exists(left)) << "what a worker left is its own: " << Log();
}

TEST_F(WorkerProcess, EndsWhenItIsRefused) {
  StartWorker();
  ASSERT_TRUE(Await<RegisterWorker>());
  Say(Refused{"too old"});
  auto exit = worker_.Wait(kPatience);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 2);
}

TEST_F(WorkerProcess, DrainsOnSigterm) {
  StartWorker({"--simulated-delay-ms", "100"});
  Welcome();
  Assign(5, Rollout({0, 1}));
  ASSERT_TRUE(Await<Progress>()) << Log();
  kill(worker_.pid(), SIGTERM);
  ASSERT_TRUE(Await<Leaving>());
  for (int i = 0; i < 2; ++i) {
    auto result = Await<TrajectoryResult>();
    ASSERT_TRUE(result) << "it finishes what it holds";
    Say(AckTrajectory{result->trajectory.id});
  }
  auto exit = worker_.Wait(kPatience);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 0) << Log();
}

TEST_F(WorkerProcess, LeavesNoOrphanWhenKilled) {
  StartWorker();
  Welcome();
  Assign(5, Rollout({0}));
  ASSERT_TRUE(Await<TrajectoryResult>()) << Log();
  std::vector<int> children = Children(worker_.pid());
  ASSERT_EQ(children.size(), 1u) << "the policy";
  kill(worker_.pid(), SIGKILL);
  ASSERT_TRUE(worker_.Wait(kPatience));
  TimePoint end = SystemClock().Now() + kPatience;
  while (!LookAt(children[0]).ended() && SystemClock().Now() < end) router_->Receive(20ms);
  EXPECT_TRUE(LookAt(children[0]).ended());
}

TEST_F(WorkerProcess, GoesOnWhenItsPolicyIsKilled) {
  StartWorker({"--simulated-delay-ms", "50"});
  Welcome();
  Assign(5, Rollout({0}));
  ASSERT_TRUE(Await<Progress>()) << Log();
  for (int child : Children(worker_.pid())) kill(child, SIGKILL);
  ASSERT_TRUE(Await<TrajectoryResult>()) << Log();
  Assign(6, Rollout({5}));
  for (;;) {
    auto result = Await<TrajectoryResult>();
    ASSERT_TRUE(result) << Log();
    if (result->trajectory.id.episode == 5) break;
  }
}

// ---- weights

struct Learner {
  explicit Learner(const fs::path& folder, size_t size)
      : router(*RouterTransport::Bind("ipc://" + (folder / "learner").string())) {
    for (size_t i = 0; i < size; ++i) weights += static_cast<char>(i * 31 + i / 997);
  }
  WeightsAnnouncement Announce(uint64_t step) const {
    return {.run = RunId(3),
            .version = {1, step},
            .endpoint = router->endpoint(),
            .size_bytes = weights.size(),
            .chunk_bytes = 4096,
            .sha256 = Sha256Hex(weights)};
  }
  // Serves chunks until `done`; `change` may spoil one.
  void Serve(const std::function<bool()>& done, const std::function<void(Chunk&)>& change = {}) {
    TimePoint end = SystemClock().Now() + kPatience;
    while (!done() && SystemClock().Now() < end) {
      auto envelope = router->Receive(20ms);
      if (!envelope) continue;
      auto request = std::get<ChunkRequest>(*Decode<WeightsRequest>(envelope->bytes));
      ++served;
      Chunk chunk{.run = request.run,
                  .version = request.version,
                  .offset = request.offset,
                  .bytes = weights.substr(request.offset, request.bytes)};
      chunk.sha256 = Sha256Hex(chunk.bytes);
      if (change) change(chunk);
      (void)router->Send({envelope->peer, Encode(WeightsReply(chunk))});
    }
  }
  std::unique_ptr<RouterTransport> router;
  std::string weights;
  int served = 0;
};

class Puller : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = std::move(*TempDirectory::Make("puller-test")); }
  WeightsPuller::Options Options() {
    return {.directory = folder_.path() / "weights", .repeat = 200ms, .silence = 2s};
  }
  std::function<void(WorkerEvent)> Tell() {
    return [this](WorkerEvent event) {
      std::lock_guard lock(mutex_);
      events_.push_back(std::move(event));
    };
  }
  size_t Events() {
    std::lock_guard lock(mutex_);
    return events_.size();
  }
  size_t Files(const std::string& run) {
    const fs::directory_iterator folder(folder_.path() / "weights" / run);
    return static_cast<size_t>(std::distance(begin(folder), end(folder)));
  }
  template <typename Event>
  Event Last() {
    std::lock_guard lock(mutex_);
    return std::get<Event>(events_.back());
  }

  TempDirectory folder_;
  std::mutex mutex_;
  std::vector<WorkerEvent> events_;
};

TEST_F(Puller, FetchesAnOddSizeAndKeepsTheNewestTwo) {
  Learner learner(folder_.path(), 100'001);
  WeightsPuller puller(Options(), Tell());
  for (uint64_t step = 1; step <= 4; ++step) {
    puller.Pull(learner.Announce(step));
    learner.Serve([&] { return Events() == step; });
    auto pulled = Last<WeightsPulled>();
    EXPECT_EQ(pulled.version.step, step);
    EXPECT_EQ(*ReadFile(pulled.path), learner.weights);
  }
  EXPECT_EQ(learner.served, 4 * 25);
  EXPECT_EQ(Files("run-3"), 2u);
}

TEST_F(Puller, KeepsTheRunsPulledLast) {
  Learner learner(folder_.path(), 1'000);
  auto options = Options();
  options.runs_kept = 2;
  WeightsPuller puller(options, Tell());
  size_t pulls = 0;
  for (uint64_t run : {1, 2, 1, 3}) {
    auto announcement = learner.Announce(++pulls);
    announcement.run = RunId(run);
    puller.Pull(announcement);
    learner.Serve([&] { return Events() == pulls; });
  }
  EXPECT_EQ(Files("run-1"), 2u);
  EXPECT_FALSE(fs::exists(folder_.path() / "weights" / "run-2"));
  EXPECT_EQ(Files("run-3"), 1u);
}

TEST_F(Puller, RefusesAChunkThatWasSpoilt) {
  Learner learner(folder_.path(), 50'000);
  WeightsPuller puller(Options(), Tell());
  puller.Pull(learner.Announce(1));
  learner.Serve([&] { return Events() == 1; },
                [](Chunk& chunk) {
                  if (chunk.offset == 8192) chunk.bytes[5] ^= 1;
                });
  EXPECT_NE(Last<WeightsPullFailed>().why.find("digest"), std::string::npos);
  puller.Pull(learner.Announce(1));
  learner.Serve([&] { return Events() == 2; });
  EXPECT_EQ(Last<WeightsPulled>().version.step, 1u);
}

TEST_F(Puller, RefusesAWholeThatIsNotWhatWasAnnounced) {
  Learner learner(folder_.path(), 50'000);
  WeightsPuller puller(Options(), Tell());
  auto announcement = learner.Announce(1);
  announcement.sha256 = Sha256Hex("something else");
  puller.Pull(announcement);
  learner.Serve([&] { return Events() == 1; });
  EXPECT_NE(Last<WeightsPullFailed>().why.find("digest"), std::string::npos);
  EXPECT_EQ(Files("run-3"), 0u) << "nothing half is left";
}

TEST_F(Puller, AsksAgainForChunksThatWereLost) {
  Learner learner(folder_.path(), 50'000);
  WeightsPuller puller(Options(), Tell());
  puller.Pull(learner.Announce(1));
  std::set<uint64_t> lost;
  learner.Serve([&] { return Events() == 1; },
                [&](Chunk& chunk) {
                  if (lost.insert(chunk.offset).second) chunk.run = RunId(99);  // as good as lost
                });
  EXPECT_EQ(*ReadFile(Last<WeightsPulled>().path), learner.weights);
}

TEST_F(Puller, GivesUpOnASilentLearnerAndOnImpossibleSizes) {
  Learner learner(folder_.path(), 50'000);
  WeightsPuller puller(Options(), Tell());
  puller.Pull(learner.Announce(1));
  TimePoint end = SystemClock().Now() + kPatience;
  while (Events() < 1 && SystemClock().Now() < end) std::this_thread::sleep_for(20ms);
  EXPECT_NE(Last<WeightsPullFailed>().why.find("silent"), std::string::npos);
  auto announcement = learner.Announce(2);
  announcement.chunk_bytes = 0;
  puller.Pull(announcement);
  while (Events() < 2 && SystemClock().Now() < end) std::this_thread::sleep_for(20ms);
  EXPECT_NE(Last<WeightsPullFailed>().why.find("sizes"), std::string::npos);
}

TEST_F(WorkerProcess, PullsWeightsAndActsWithThem) {
  Learner learner(folder_.path(), 20'000);
  StartWorker();
  Welcome();
  Say(learner.Announce(5));
  auto served = [&] { return learner.served >= 5; };
  learner.Serve(served);
  auto in_use = Await<WeightsInUse>();
  ASSERT_TRUE(in_use) << Log();
  EXPECT_EQ(in_use->version, (PolicyVersion{1, 5}));
  RolloutJob job = Rollout({0});
  job.policy = "grammar";
  job.min_version = {1, 5};
  Assign(5, job);
  auto result = Await<TrajectoryResult>();
  ASSERT_TRUE(result) << Log();
  EXPECT_EQ(OldestVersion(result->trajectory), (PolicyVersion{1, 5}));
}

TEST_F(WorkerProcess, SaysThatItsPolicyRefusesTheWeightsAndGivesTheJobBack) {
  Learner learner(folder_.path(), 2'000);
  learner.weights.replace(0, 3, "bad");
  StartWorker();
  Welcome();
  RolloutJob job = Rollout({0});
  job.policy = "grammar";
  job.min_version = {1, 5};
  Assign(5, job);
  Say(learner.Announce(5));
  std::optional<WeightsRefused> refused;
  std::optional<JobFailed> failed;
  learner.Serve([&] {
    while (auto message = Next(1ms)) {
      if (auto* found = std::get_if<WeightsRefused>(&*message)) refused = *found;
      if (auto* found = std::get_if<JobFailed>(&*message)) failed = *found;
    }
    return refused && failed;
  });
  ASSERT_TRUE(refused && failed) << Log();
  EXPECT_EQ(*refused, (WeightsRefused{RunId(3), {1, 5}, "bad weights"}));
  EXPECT_EQ(failed->job, JobId(5));
  EXPECT_EQ(learner.served, 3) << "one chunk a copy";
}

TEST(WorkerConfigText, SplitsWords) {
  EXPECT_EQ(SplitWords("grammar,random"), (std::vector<std::string>{"grammar", "random"}));
  EXPECT_TRUE(SplitWords("").empty());
}

}  // namespace
}  // namespace warpsmith
