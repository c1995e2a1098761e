// The conversations of a learner: with the coordinator (DEALER to ROUTER), and with workers that
// pull weights from it (ROUTER).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/model/worker_protocol.h"

namespace warpsmith {

// ---- learner -> coordinator

// What a learner's newest durable checkpoint of a run has passed.
struct TrainingWatermark {
  uint64_t below = 0;                // every publish_seq < below is consumed ...
  std::vector<uint64_t> exceptions;  // ... and these above it
  bool operator==(const TrainingWatermark&) const = default;
};

struct LearnerRunState {
  RunId run;
  TrainingWatermark watermark;
  PolicyVersion version;  // newest durable checkpoint
  bool operator==(const LearnerRunState&) const = default;
};

// First message of an incarnation, and again after Unknown.
struct RegisterLearner {
  uint32_t protocol_version = kProtocolVersion;
  std::string name;
  std::vector<LearnerRunState> runs;  // from the checkpoints it found
  bool operator==(const RegisterLearner&) const = default;
};

enum class Fate { kTrained, kStale, kDropped };
const char* ToString(Fate fate);

struct ConsumedTrajectory {
  uint64_t publish_seq = 0;
  Fate fate = Fate::kTrained;
  bool operator==(const ConsumedTrajectory&) const = default;
};

// What one step did, for the learning curve.
struct StepReport {
  uint64_t step = 0;
  int32_t episodes = 0;
  int32_t turns = 0;
  double mean_reward = 0;
  double pass_rate = 0;     // correct turns / rewarded turns
  double mean_speedup = 0;  // over correct turns
  double loss = 0;
  double entropy = 0;  // nats a choice
  double approx_kl = 0;
  double clip_fraction = 0;
  double mean_staleness = 0;  // steps
  double seconds = 0;
  bool operator==(const StepReport&) const = default;
};

// A checkpoint that holds these trajectories is durable. Repeated until acknowledged.
struct CheckpointDurable {
  RunId run;
  PolicyVersion version;
  PolicyVersion parent;
  std::vector<ConsumedTrajectory> consumed;  // since the parent
  TrainingWatermark watermark;               // after it
  StepReport report;
  bool operator==(const CheckpointDurable&) const = default;
};

// The run's policy is at this version and every trajectory up to the closing one is consumed.
struct RunTrained {
  RunId run;
  PolicyVersion version;
  bool operator==(const RunTrained&) const = default;
};

// This learner cannot train the run and trying again would change nothing (no family of its policy
// fits a task, a checkpoint of no use): the run fails. Repeated until told to forget it.
struct RunRefused {
  RunId run;
  std::string why;
  bool operator==(const RunRefused&) const = default;
};

using LearnerMessage = std::variant<RegisterLearner, Heartbeat, WeightsAnnouncement,
                                    CheckpointDurable, RunTrained, RunRefused>;

// ---- coordinator -> learner

struct WelcomeLearner {
  uint64_t epoch = 0;
  uint64_t incarnation = 0;  // durable, new with every registration of a new process
  Duration heartbeat{};
  std::string redis;  // "unix:/path" or "tcp:host:port"
  bool operator==(const WelcomeLearner&) const = default;
};

// Train this run's policy. Sent after a welcome, and when a run starts.
struct TrainRun {
  RunId run;
  RunSpec spec;
  std::string stream;  // Redis key of its trajectories
  bool operator==(const TrainRun&) const = default;
};

// Everything the run will ever publish lies below this: finish the last batch, however small.
struct CloseRun {
  RunId run;
  uint64_t end_seq = 0;
  bool operator==(const CloseRun&) const = default;
};

struct AckCheckpoint {
  RunId run;
  PolicyVersion version;
  bool operator==(const AckCheckpoint&) const = default;
};

// Drop the run: it was cancelled, or has ended.
struct ForgetRun {
  RunId run;
  bool operator==(const ForgetRun&) const = default;
};

using CoordinatorToLearner = std::variant<WelcomeLearner, Refused, Unknown, HeartbeatReply,
                                          TrainRun, CloseRun, AckCheckpoint, ForgetRun>;

// ---- worker <-> learner: weights

struct ChunkRequest {
  RunId run;
  PolicyVersion version;
  uint64_t offset = 0;
  uint32_t bytes = 0;
  bool operator==(const ChunkRequest&) const = default;
};

struct Chunk {
  RunId run;
  PolicyVersion version;
  uint64_t offset = 0;
  std::string bytes;
  std::string sha256;  // of the bytes, hex
  bool operator==(const Chunk&) const = default;
};

// The version is no longer kept: wait for the next announcement.
struct ChunkGone {
  RunId run;
  PolicyVersion version;
  bool operator==(const ChunkGone&) const = default;
};

using WeightsRequest = std::variant<ChunkRequest>;
using WeightsReply = std::variant<Chunk, ChunkGone>;

}  // namespace warpsmith
