// The worker's decisions, without the world: registration, leases, episodes, weights, resending.
//
//   effects = core.Step(now, event)    what happened -> what the shell must do, in this order
//   core.NextDeadline()                when to Step with TimePassed at the latest
//
// Pure: no I/O, clock, thread, log or ambient randomness. The same events at the same times give
// the same effects, byte for byte, so that a simulation can drive it with faults.
//
// The life of a job: AssignJob -> its episodes run side by side, each a state machine of T turns
// (policy -> evaluation -> reward) -> one TrajectoryResult an episode, kept in the spool and sent
// again until acknowledged. The job is held (named at registration) until all its results are
// acknowledged.
//
// What it promises:
//  - an action's sampling seed is MixSeed({job seed, episode, turn}): a retry samples the same
//    actions from the same weights;
//  - an infrastructure outcome is tried once more here; then the episode ends with that turn masked
//    (reward 0), or, if the device is gone, the job fails;
//  - a lane is given a few evaluations at a time, of its jobs in turn, so that no job stands still
//    behind another for longer than a few evaluations take;
//  - one request to the policy at a time; weights are loaded between requests, never older ones
//    over newer, and a job waits until the policy has its min_version;
//  - a job's lease is renewed when something moves, and while an evaluation or a question of its
//    stands under the supervisor's limits, which are longer than a lease; not for longer than those
//    limits allow, so that a lane or a policy that hangs loses its jobs;
//  - after a lease time without a word from the coordinator it fences itself: unfinished episodes
//    are dropped, finished results stay in the spool;
//  - late answers to work that was dropped are ignored.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/core.h"
#include "schema/child.h"
#include "schema/worker.h"

namespace warpsmith {

struct WorkerCoreOptions {
  std::string name;  // host name and pid, for people
  std::vector<DeviceFacts> devices;
  std::vector<std::string> policies;
  uint32_t capacity = 2;                                        // jobs held at once
  Duration register_retry = std::chrono::milliseconds(250);     // doubles up to sixteen times
  Duration resend_after = std::chrono::seconds(2);              // unacknowledged results
  size_t resend_burst = 32;                                     // results resent in one Step
  Duration progress_interval = std::chrono::milliseconds(250);  // least between two of a job
  // What the supervisor may allow to one evaluation or one question of the policy: a start of its
  // child, and the longest silence after it.
  Duration longest_answer = std::chrono::minutes(6);
  size_t spool_limit = 1024;                         // results; above it no new turn begins
  Duration weights_retry = std::chrono::seconds(2);  // after a pull or a load that failed
  int policy_failures = 3;                           // deaths of the policy under one job
  int sick_jobs = 5;                                 // jobs lost to a device in a row: give up
  size_t lane_window = 8;                            // evaluations given to a lane at once
  size_t runs_remembered = 64;                       // whose weights are known
};

// ---- events

struct Started {};  // once, first
struct Heard {
  CoordinatorToWorker message;
};
struct Evaluated {  // answers Evaluate
  uint64_t id = 0;
  Evaluation evaluation;
  int64_t wall_clock_ms = 0;  // for the record
};
struct PolicyReplied {
  FromPolicy message;
};  // answers AskPolicy
struct PolicyLost {
  std::string why;
};                      // a fresh child is there, unloaded
struct WeightsPulled {  // answers PullWeights
  RunId run;
  PolicyVersion version;
  std::string path;  // stays until a newer one is in use
};
struct WeightsPullFailed {
  RunId run;
  PolicyVersion version;
  std::string why;
};
struct DrainRequested {
  Duration grace{};
};  // stop: finish, or hand back within the grace

using WorkerEvent = std::variant<Started, Heard, Evaluated, PolicyReplied, PolicyLost,
                                 WeightsPulled, WeightsPullFailed, DrainRequested, TimePassed>;

// ---- effects

// May be lost: whatever matters is sent again.
struct SendMessage {
  WorkerMessage message;
  bool operator==(const SendMessage&) const = default;
};
struct Evaluate {
  uint64_t id = 0;
  Task task;
  std::string candidate;
  Depth depth = Depth::kScreen;
  int device_index = 0;
  bool operator==(const Evaluate&) const = default;
};
struct AskPolicy {
  ToPolicy message;
  bool operator==(const AskPolicy&) const = default;
};
struct PullWeights {
  WeightsAnnouncement announcement;
  bool operator==(const PullWeights&) const = default;
};
// The worker has nothing left to do. 0: as asked; 2: the coordinator refused it; 3: its devices are
// sick.
struct Exit {
  int status = 0;
  std::string why;
  bool operator==(const Exit&) const = default;
};

using WorkerEffect = std::variant<SendMessage, Evaluate, AskPolicy, PullWeights, LogLine, Exit>;
using WorkerEffects = std::vector<WorkerEffect>;

class WorkerCore {
 public:
  explicit WorkerCore(WorkerCoreOptions options);
  ~WorkerCore();
  WorkerCore(const WorkerCore&) = delete;
  WorkerCore& operator=(const WorkerCore&) = delete;

  WorkerEffects Step(TimePoint now, WorkerEvent event);
  // Nothing: nothing is due.
  std::optional<TimePoint> NextDeadline() const;

  // For logs and simulations.
  bool registered() const;
  size_t jobs() const;
  size_t spooled() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpsmith
