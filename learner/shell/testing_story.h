// Test support: a coordinator, a network and a trainer that a test drives by hand.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/net/transport.h"
#include "common/queue/memory_queue.h"
#include "common/runtime/files.h"
#include "common/wire/codec.h"
#include "learner/shell/learner.h"
#include "schema/coordinator.h"

namespace warpsmith {

// The learner's end of a network; a test holds the other one.
class FakeNetwork : public Transport {
 public:
  Status Send(const Envelope& envelope) override {
    if (sends_left == 0) return Fail(ErrorCode::kUnavailable, "the network is cut");
    if (sends_left > 0) --sends_left;
    auto message = Decode<ToCoordinator>(envelope.bytes);
    sent.push_back(std::get<LearnerMessage>(*message));
    return {};
  }
  std::optional<Envelope> Receive(Duration) override {
    if (to_learner.empty()) return std::nullopt;
    Envelope next{"", Encode(FromCoordinator(to_learner.front()))};
    to_learner.pop_front();
    return next;
  }
  void Wake() override {}

  int64_t sends_left = -1;  // how many go out before the network is cut; -1: all
  std::vector<LearnerMessage> sent;
  std::deque<CoordinatorToLearner> to_learner;
};

// Weights that are the list of what they were trained on: "group.episode" a line.
class FakeTrainer {
 public:
  static MakeTrainer Maker(bool* disk_is_full, const std::string* refusal = nullptr) {
    return [disk_is_full, refusal](const RunSpec&) -> Result<TrainerPort> {
      if (refusal && !refusal->empty()) return Fail(ErrorCode::kInvalidInput, *refusal);
      auto weights = std::make_shared<std::string>("start\n");
      return TrainerPort{.step =
                             [weights](std::span<const Trajectory> batch) {
                               for (const Trajectory& t : batch)
                                 *weights += std::to_string(t.id.group.value()) + "." +
                                             std::to_string(t.id.episode) + "\n";
                               return StepReport{.episodes = static_cast<int32_t>(batch.size())};
                             },
                         .load = [weights](const std::string& path) -> Status {
                           ASSIGN_OR_RETURN(*weights, ReadFile(path));
                           return {};
                         },
                         .save = [weights, disk_is_full](const std::string& path) -> Status {
                           if (*disk_is_full) return Fail(ErrorCode::kExhausted, "no space left");
                           return WriteFileAtomically(path, *weights);
                         }};
    };
  }
};

inline Trajectory EpisodeOf(RunId run, uint64_t group, uint32_t episode, PolicyVersion version) {
  Turn turn;
  turn.action = {.ids = {1}, .log_probs = {-0.5f}, .mask = {1}, .version = version};
  turn.evaluation.outcome = Correct{.speedup = 1};
  turn.reward = 1;
  return {.id = {run, GroupId(group), episode}, .task = TaskId("starter/gelu"), .turns = {turn}};
}

// A coordinator of one run, with groups of two and batches of two groups. It keeps every
// trajectory, and gives each learner process a stream of its own with what that has not consumed.
class LearnerStory {
 public:
  LearnerStory() : folder(*TempDirectory::Make("learner-story")) {
    spec.name = "story";
    spec.algorithm.group = 2;
    spec.algorithm.batch_episodes = 4;
    spec.algorithm.staleness = 100;
    LearnerStarts();
  }

  // A new process on the same directory; whatever the last one had in memory is gone.
  void LearnerStarts() {
    learner.reset();
    network = std::make_unique<FakeNetwork>();
    learner = std::make_unique<Learner>(
        LearnerOptions{.name = "lena", .directory = folder.path(), .weights_endpoint = "ipc:///w"},
        *network, clock, weights,
        [this](const std::string&) -> Result<std::unique_ptr<TrajectoryQueue>> {
          return make_queue();
        },
        FakeTrainer::Maker(&disk_is_full, &refusal),
        [this](std::function<void()> work) {
          if (trains)
            work();
          else
            withheld.push_back(std::move(work));
        });
    welcomed = false;
  }

  // The learner works, and the coordinator answers, until nothing is said any more.
  Status Passes(int turns = 30) {
    for (int i = 0; i < turns; ++i) {
      clock.Advance(std::chrono::milliseconds(500));
      if (auto status = learner->Turn({}); !status) return status;
      if (coordinator_is_there) Answer();
    }
    return {};
  }

  void Answer() {
    for (const LearnerMessage& message : std::exchange(network->sent, {})) {
      heard.push_back(message);
      if (auto* registration = std::get_if<RegisterLearner>(&message)) {
        if (!welcomed) Welcome(*registration);
      } else if (auto* checkpoint = std::get_if<CheckpointDurable>(&message)) {
        reports[checkpoint->version] = *checkpoint;
        if (acknowledges) Tell(AckCheckpoint{run, checkpoint->version});
      } else if (auto* trained = std::get_if<RunTrained>(&message)) {
        trained_version = trained->version;
      }
    }
  }

  void Welcome(const RegisterLearner& registration) {
    welcomed = true;
    registered = registration;
    ++incarnation;
    stream = "run:1:" + std::to_string(incarnation);
    Tell(WelcomeLearner{1, incarnation, std::chrono::seconds(2), "memory"});
    const TrainingWatermark mark =
        registration.runs.empty() ? TrainingWatermark{} : registration.runs[0].watermark;
    const std::set<uint64_t> above(mark.exceptions.begin(), mark.exceptions.end());
    std::vector<QueuedTrajectory> again;
    for (uint64_t seq = mark.below; seq < trajectories.size(); ++seq)
      if (!above.contains(seq)) again.push_back({"", seq, trajectories[seq]});
    Publish(again);
    if (run_is_live) Tell(TrainRun{run, spec, stream});
    if (closed) Tell(CloseRun{run, trajectories.size()});
  }

  void Tell(CoordinatorToLearner message) { network->to_learner.push_back(std::move(message)); }

  void WorkersFinishGroups(int count, PolicyVersion version = {}) {
    std::vector<QueuedTrajectory> batch;
    for (int i = 0; i < count; ++i, ++groups) {
      for (uint32_t episode = 0; episode < 2; ++episode) {
        trajectories.push_back(Encode(EpisodeOf(run, groups, episode, version)));
        batch.push_back({"", trajectories.size() - 1, trajectories.back()});
      }
    }
    Publish(batch);
  }
  void Publish(const std::vector<QueuedTrajectory>& batch) {
    (void)MemoryQueue(broker).Publish(stream, batch);
  }
  void RunCloses() {
    closed = true;
    Tell(CloseRun{run, trajectories.size()});
  }

  template <typename Message>
  std::vector<Message> Heard() {
    std::vector<Message> found;
    for (const LearnerMessage& message : heard)
      if (auto* m = std::get_if<Message>(&message)) found.push_back(*m);
    return found;
  }

  std::filesystem::path RunFolder() const { return folder.path() / "run-1"; }
  // What the weights of this version were trained on, "group.episode" a line.
  std::string WeightsOf(const PolicyVersion& version) {
    return ReadFile(RunFolder() / (ToString(version) + ".safetensors")).value_or("none");
  }

  const RunId run{1};
  TempDirectory folder;
  RunSpec spec;
  ManualClock clock;
  WeightsTable weights;
  std::shared_ptr<MemoryBroker> broker = std::make_shared<MemoryBroker>();
  std::function<std::unique_ptr<TrajectoryQueue>()> make_queue = [this] {
    return std::make_unique<MemoryQueue>(broker);
  };
  std::unique_ptr<FakeNetwork> network;
  std::unique_ptr<Learner> learner;
  std::vector<std::function<void()>>
      withheld;  // training that was asked for while `trains` was off

  bool disk_is_full = false;
  std::string refusal;  // why the trainer takes no run; empty: it takes all
  bool trains = true;
  bool acknowledges = true;
  bool coordinator_is_there = true;
  bool run_is_live = true;
  bool welcomed = false;
  bool closed = false;
  uint64_t incarnation = 0;
  uint64_t groups = 0;
  std::string stream;
  std::vector<std::string> trajectories;  // encoded, by publish_seq
  std::vector<LearnerMessage> heard;
  RegisterLearner registered;
  std::map<PolicyVersion, CheckpointDurable> reports;
  std::optional<PolicyVersion> trained_version;
};

}  // namespace warpsmith
