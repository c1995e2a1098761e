// The conversations of a supervisor with its children over socketpairs, and of an oracle with its
// runner. What a compiler or a runner says is evidence to check, never an order.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/model/device.h"
#include "common/model/outcome.h"
#include "common/model/plan.h"
#include "common/model/task.h"
#include "common/model/trajectory.h"

namespace warpsmith {

// ---- supervisor <-> compiler (hostile text in, evidence out)

struct CompileRequest {
  uint64_t id = 0;
  std::string text;
  DeviceKind device_kind = DeviceKind::kHost;
  std::string architecture;  // "sm_90a"; ignored on the host device
  bool operator==(const CompileRequest&) const = default;
};

// Exactly one of: compiled, or an outcome of Rejected, CompileError, ResourceError, Infrastructure.
struct CompileReply {
  uint64_t id = 0;
  std::variant<CompiledCandidate, Outcome> result;
  double ms = 0;
  bool operator==(const CompileReply&) const = default;
};

// ---- supervisor <-> oracle

struct EvaluateRequest {
  uint64_t id = 0;
  Task task;
  CompiledCandidate compiled;
  Depth depth = Depth::kScreen;
  bool operator==(const EvaluateRequest&) const = default;
};

// A file descriptor comes with it: the oracle's end of a fresh runner's socketpair.
struct RunnerAttached {
  uint64_t runner = 0;
  bool operator==(const RunnerAttached&) const = default;
};

using ToOracle = std::variant<EvaluateRequest, RunnerAttached>;

// The oracle is up.
struct OracleReady {
  DeviceFacts device;
  bool operator==(const OracleReady&) const = default;
};

// A stage begins: if nothing more is heard for `limit`, the supervisor kills runner `runner`; the
// oracle sees its socket close and calls the stage timed out. The limit is on the runner only.
struct StageBegan {
  uint64_t id = 0;
  Stage stage = Stage::kVerify;
  uint64_t runner = 0;
  Duration limit{};
  bool operator==(const StageBegan&) const = default;
};

struct StageEnded {
  uint64_t id = 0;
  bool operator==(const StageEnded&) const = default;
};

// The runner must not be used again: kill it and attach the spare.
struct DiscardRunner {
  uint64_t runner = 0;
  std::string why;
  bool operator==(const DiscardRunner&) const = default;
};

struct EvaluateReply {
  uint64_t id = 0;
  Outcome outcome = Infrastructure{};
  std::vector<StageTime> stages;
  std::string log;
  bool operator==(const EvaluateReply&) const = default;
};

// The oracle cannot work at all (no device, no toolkit): the supervisor gives the device up.
struct OracleFailed {
  InfrastructureKind kind = InfrastructureKind::kDriver;
  std::string why;
  bool operator==(const OracleFailed&) const = default;
};

using FromOracle =
    std::variant<OracleReady, StageBegan, StageEnded, DiscardRunner, EvaluateReply, OracleFailed>;

// ---- oracle <-> runner (every byte from the runner is treated as hostile)

enum class Access { kReadOnly, kReadWrite };

// A buffer handed over as a file descriptor: `size` bytes of data start at `offset` in a mapping of
// `mapping_bytes`. On CUDA the descriptor exports a virtual-memory allocation, on the host device
// it is a memfd.
struct BufferHandle {
  uint64_t mapping_bytes = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  Access access = Access::kReadOnly;
  bool operator==(const BufferHandle&) const = default;
};

// Load a binary, fresh: all device globals as the binary says. Forgets bound buffers and any module
// loaded before.
struct LoadModule {
  std::string binary;
  std::vector<KernelInfo> kernels;
  ResolvedPlan plan;
  bool operator==(const LoadModule&) const = default;
};

// Map one set of buffers, in the order of plan.buffers, temps included; one descriptor each comes
// with the message, in the same order (none for a buffer of size 0). `set` is a small number of the
// oracle's; a set of that number is forgotten, as all are by the next LoadModule.
struct BindBuffers {
  uint32_t set = 0;
  std::vector<BufferHandle> buffers;
  bool operator==(const BindBuffers&) const = default;
};

// Run the plan once on each named set, in order. Timed: cold L2 before each, each run timed on the
// device; untimed: no flush. `dirty_shared` fills shared memory with rubbish before.
struct RunPlan {
  std::vector<uint32_t> sets;
  bool timed = false;
  bool dirty_shared = false;
  bool operator==(const RunPlan&) const = default;
};

using ToRunner = std::variant<LoadModule, BindBuffers, RunPlan>;

// Sent once, when the runner's context is up.
struct RunnerReady {
  bool operator==(const RunnerReady&) const = default;
};

struct Done {
  std::vector<double> run_us;  // for a timed RunPlan: one a set
  double sm_clock_mhz = 0;     // seen on the device while timing; 0: unknown
  std::string output;          // what the candidate printed, cut at a cap
  bool operator==(const Done&) const = default;
};

// Load, launch or fault: LaunchError, DeviceFault, ResourceError, Rejected or Infrastructure. A
// runner that reports a DeviceFault ends itself.
struct Failed {
  Outcome outcome = Infrastructure{};
  std::string output;
  bool operator==(const Failed&) const = default;
};

using FromRunner = std::variant<RunnerReady, Done, Failed>;

// ---- supervisor <-> policy

struct Episode {
  uint64_t seed = 0;        // of this action's sampling
  std::vector<Turn> turns;  // so far
  bool operator==(const Episode&) const = default;
};

struct ActRequest {
  uint64_t id = 0;
  RunId run;
  std::string policy;  // kind
  Task task;
  DeviceFacts device;
  std::vector<Episode> episodes;
  bool operator==(const ActRequest&) const = default;
};

// Weights of a run's policy, as a safetensors file that stays until the reply.
struct LoadWeights {
  uint64_t id = 0;
  RunId run;
  std::string policy;
  PolicyVersion version;
  std::string path;
  bool operator==(const LoadWeights&) const = default;
};

using ToPolicy = std::variant<ActRequest, LoadWeights>;

struct ActReply {
  uint64_t id = 0;
  std::vector<Action> actions;  // one an episode; empty when `problem` says why not
  std::string problem;          // the policy cannot write for this task, now or later
  bool operator==(const ActReply&) const = default;
};

struct WeightsLoaded {
  uint64_t id = 0;
  RunId run;
  PolicyVersion version;
  std::string problem;  // empty: in use
  bool operator==(const WeightsLoaded&) const = default;
};

using FromPolicy = std::variant<ActReply, WeightsLoaded>;

}  // namespace warpsmith
