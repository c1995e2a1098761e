// The conversation of a worker (ZeroMQ DEALER) with the coordinator (ROUTER). Plain records;
// schema/worker.capnp is their form on the wire and schema/README.md the story.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/model/device.h"
#include "common/model/run.h"

namespace warpsmith {

// Raised whenever a peer of another version could misread a message.
constexpr uint32_t kProtocolVersion = 1;

// ---- worker -> coordinator

struct HeldLease {
  JobId job;
  Fence fence;
  int32_t device_index = 0;  // the lane, as registered
  bool operator==(const HeldLease&) const = default;
};

// First message of an incarnation, and again whenever the coordinator answers Unknown.
struct RegisterWorker {
  uint32_t protocol_version = kProtocolVersion;
  std::string name;                   // host name and pid, for people
  std::vector<DeviceFacts> devices;   // the worker's lanes
  std::vector<std::string> policies;  // kinds that it can run: "random", "grammar"
  uint32_t capacity = 1;              // jobs that it wants to hold at once
  std::vector<HeldLease> held;        // still being worked on
  bool operator==(const RegisterWorker&) const = default;
};

// Says "I am here"; renews no lease.
struct Heartbeat {
  bool operator==(const Heartbeat&) const = default;
};

// Renews the lease of a job on which something really moved, or of which something stands within
// the limits that the worker's supervisor has for it, which are longer than a lease.
struct Progress {
  JobId job;
  Fence fence;
  uint64_t evaluations = 0;  // finished so far in this attempt
  bool operator==(const Progress&) const = default;
};

// One episode ended. Repeated until acknowledged.
struct TrajectoryResult {
  JobId job;
  Fence fence;
  Trajectory trajectory;
  bool operator==(const TrajectoryResult&) const = default;
};

// One candidate of an evaluation job was judged. Repeated until acknowledged.
struct EvaluationResult {
  JobId job;
  Fence fence;
  uint32_t index = 0;  // of the candidate in the job
  Evaluation evaluation;
  bool operator==(const EvaluationResult&) const = default;
};

// The attempt cannot go on; what was finished has been sent as results.
struct JobFailed {
  JobId job;
  Fence fence;
  InfrastructureKind kind = InfrastructureKind::kInternal;
  std::string detail;
  // The worker's policy cannot write for this task: it gets no more of the run, which fails when no
  // worker's can.
  bool policy_refuses = false;
  bool operator==(const JobFailed&) const = default;
};

// The worker's policy now runs this version of the run's weights.
struct WeightsInUse {
  RunId run;
  PolicyVersion version;
  bool operator==(const WeightsInUse&) const = default;
};

// The worker's policy does not take this version: its file is broken, or made for another release.
// Tried again there no more; said again with each announcement of it.
struct WeightsRefused {
  RunId run;
  PolicyVersion version;
  std::string why;
  bool operator==(const WeightsRefused&) const = default;
};

// The worker stops: give it nothing more; what it holds will be finished or comes back as
// JobFailed.
struct Leaving {
  bool operator==(const Leaving&) const = default;
};

using WorkerMessage =
    std::variant<RegisterWorker, Heartbeat, Progress, TrajectoryResult, EvaluationResult, JobFailed,
                 WeightsInUse, WeightsRefused, Leaving>;

// ---- coordinator -> worker

struct WelcomeWorker {
  uint64_t epoch = 0;              // of this coordinator's life
  Duration heartbeat{};            // send one at least this often
  Duration lease{};                // a job without progress for so long is taken away
  std::vector<HeldLease> adopted;  // held leases that go on, with their new fences
  bool operator==(const WelcomeWorker&) const = default;
};

// The peer cannot be served (protocol version, name): stop and say why.
struct Refused {
  std::string why;
  bool operator==(const Refused&) const = default;
};

// The coordinator does not know this peer (it restarted): register again.
struct Unknown {
  bool operator==(const Unknown&) const = default;
};

struct AssignJob {
  JobId job;
  Fence fence;
  int32_t device_index = 0;  // the lane, as registered
  Duration lease{};
  Duration total_deadline{};  // from the grant
  JobBody body;
  bool operator==(const AssignJob&) const = default;
};

// The result is durable (or was known already): forget it.
struct AckTrajectory {
  TrajectoryId id;
  bool operator==(const AckTrajectory&) const = default;
};
struct AckEvaluation {
  JobId job;
  uint32_t index = 0;
  bool operator==(const AckEvaluation&) const = default;
};

// Stop working on this attempt and drop what it has not reported.
struct CancelJob {
  JobId job;
  Fence fence;
  bool operator==(const CancelJob&) const = default;
};

// New weights can be pulled. Small, and repeated.
struct WeightsAnnouncement {
  RunId run;
  PolicyVersion version;
  std::string endpoint;  // of the learner's weights socket
  uint64_t size_bytes = 0;
  uint32_t chunk_bytes = 0;
  std::string sha256;  // of the whole, hex
  bool operator==(const WeightsAnnouncement&) const = default;
};

// Still here, same epoch.
struct HeartbeatReply {
  uint64_t epoch = 0;
  bool operator==(const HeartbeatReply&) const = default;
};

using CoordinatorToWorker =
    std::variant<WelcomeWorker, Refused, Unknown, AssignJob, AckTrajectory, AckEvaluation,
                 CancelJob, WeightsAnnouncement, HeartbeatReply>;

}  // namespace warpsmith
