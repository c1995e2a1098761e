// A learner process with its disk: registers, takes trajectories from the streams in batches by the
// real rules (learner/core), writes checkpoints, announces, reports until acknowledged. A crash
// loses what was not written; a bad disk loses the newest checkpoint.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/base/random.h"
#include "learner/core/batches.h"
#include "schema/coordinator.h"
#include "tests/simulation/clockwork.h"

namespace warpsmith::sim {

// Streams by name; their entries by place.
using Streams = std::map<std::string, std::map<uint64_t, Trajectory>>;

struct LearnerWorld {
  Clockwork& clockwork;
  Random& random;
  const Streams& streams;
  const bool& redis_away;
  std::function<void(const std::string& peer, LearnerMessage)> send;
};

class SimLearner {
 public:
  struct Checkpoint {
    PolicyVersion version;
    PolicyVersion parent;
    std::vector<PolicyVersion> ancestors;
    TrainingWatermark watermark;
    std::vector<ConsumedTrajectory> consumed;  // since the parent
    bool acknowledged = false;
  };
  // What survives crashes.
  struct RunDisk {
    std::map<PolicyVersion, Checkpoint> checkpoints;
    PolicyVersion newest;
    bool said_trained = false;
  };

  explicit SimLearner(LearnerWorld& world) : world_(world) {}

  void Boot();
  void Crash(bool lose_newest_checkpoints);
  bool up() const { return up_; }
  void Hear(const std::string& to, CoordinatorToLearner message);
  bool Serves(const WeightsAnnouncement& announcement) const;
  const std::map<RunId, RunDisk>& disk() const { return disk_; }

 private:
  struct Open {
    TrainRun order;
    TrainedLine line;
    std::unique_ptr<Batches> batches;
    std::optional<uint64_t> end;
    bool training = false;
    TimePoint say{};
    bool trained = false;
  };

  void On(const WelcomeLearner& message);
  void On(const Refused&);
  void On(const Unknown&) { registered_ = false; }
  void On(const HeartbeatReply&) {}
  void On(const Unrecognized&) {}
  void On(const TrainRun& message);
  void On(const CloseRun& message);
  void On(const AckCheckpoint& message);
  void On(const ForgetRun& message) { open_.erase(message.run); }

  void Turn();
  void Say(LearnerMessage message) { world_.send(peer_, std::move(message)); }
  void Register();
  void Work(RunId id, Open& run);
  void Write(RunId id, Open& run, Checkpoint checkpoint);

  LearnerWorld& world_;
  std::map<RunId, RunDisk> disk_;

  bool up_ = false;
  uint64_t life_ = 0;
  std::string peer_;
  bool registered_ = false;
  uint64_t incarnation_ = 0;
  TimePoint register_at_{};
  TimePoint heartbeat_at_{};
  std::map<RunId, Open> open_;
};

}  // namespace warpsmith::sim
