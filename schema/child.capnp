# A supervisor with its children, and an oracle with its runner, over socketpairs. Descriptors travel
# beside a frame. What a compiler or a runner says is evidence to check.
@0xf486782688d2e4f9;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".DeviceFacts;
using import "device.capnp".DeviceKind;
using import "task.capnp".Task;
using import "plan.capnp".CompiledCandidate;
using import "plan.capnp".KernelInfo;
using import "plan.capnp".ResolvedPlan;
using import "outcome.capnp".Depth;
using import "outcome.capnp".InfrastructureKind;
using import "outcome.capnp".Outcome;
using import "outcome.capnp".Stage;
using import "outcome.capnp".StageTime;
using import "trajectory.capnp".Action;
using import "trajectory.capnp".PolicyVersion;
using import "trajectory.capnp".Turn;
$Cxx.namespace("warpsmith::wire");

struct CompileRequest $Record.message(5) {
  id @0 :UInt64;
  text @1 :Text;
  deviceKind @2 :DeviceKind $Record.init("DeviceKind::kHost");
  architecture @3 :Text;  # "sm_90a"; ignored on the host device
}

struct CompileResult {
  union {
    compiledCandidate @0 :CompiledCandidate;
    outcome @1 :Outcome;
  }
}

struct CompileReply $Record.message(6) {
  # Exactly one of: compiled, or an outcome of Rejected, CompileError, ResourceError,
  # Infrastructure.
  id @0 :UInt64;
  result @1 :CompileResult;
  ms @2 :Float64;
}

struct EvaluateRequest {
  id @0 :UInt64;
  task @1 :Task;
  compiled @2 :CompiledCandidate;
  depth @3 :Depth $Record.init("Depth::kScreen");
}

struct RunnerAttached {
  # A file descriptor comes with it: the oracle's end of a fresh runner's socketpair.
  runner @0 :UInt64;
}

struct ToOracle $Record.message(7) {
  union {
    evaluateRequest @0 :EvaluateRequest;
    runnerAttached @1 :RunnerAttached;
  }
}

struct OracleReady {
  # The oracle is up.
  device @0 :DeviceFacts;
}

struct StageBegan {
  # A stage begins: if nothing more is heard for `limit`, the supervisor kills runner `runner`; the
  # oracle sees its socket close and calls the stage timed out. The limit is on the runner only.
  id @0 :UInt64;
  stage @1 :Stage $Record.init("Stage::kVerify");
  runner @2 :UInt64;
  limit @3 :Int64 $Record.type("Duration");
}

struct StageEnded {
  id @0 :UInt64;
}

struct DiscardRunner {
  # The runner must not be used again: kill it and attach the spare.
  runner @0 :UInt64;
  why @1 :Text;
}

struct EvaluateReply {
  id @0 :UInt64;
  outcome @1 :Outcome $Record.init("Infrastructure{}");
  stages @2 :List(StageTime);
  log @3 :Text;
}

struct OracleFailed {
  # The oracle cannot work at all (no device, no toolkit): the supervisor gives the device up.
  kind @0 :InfrastructureKind $Record.init("InfrastructureKind::kDriver");
  why @1 :Text;
}

struct FromOracle $Record.message(8) {
  union {
    oracleReady @0 :OracleReady;
    stageBegan @1 :StageBegan;
    stageEnded @2 :StageEnded;
    discardRunner @3 :DiscardRunner;
    evaluateReply @4 :EvaluateReply;
    oracleFailed @5 :OracleFailed;
  }
}

enum Access {
  readOnly @0;
  readWrite @1;
}

struct BufferHandle {
  # A buffer handed over as a file descriptor: `size` bytes of data start at `offset` in a mapping
  # of `mapping_bytes`. On CUDA the descriptor exports a virtual-memory allocation, on the host
  # device it is a memfd.
  mappingBytes @0 :UInt64;
  offset @1 :UInt64;
  size @2 :UInt64;
  access @3 :Access;
}

struct LoadModule {
  # Load a binary, fresh: all device globals as the binary says. Forgets bound buffers and any
  # module loaded before.
  binary @0 :Data;
  kernels @1 :List(KernelInfo);
  plan @2 :ResolvedPlan;
}

struct BindBuffers {
  # Map one set of buffers, in the order of plan.buffers, temps included; one descriptor each comes
  # with the message, in the same order (none for a buffer of size 0). `set` is a small number of
  # the oracle's; a set of that number is forgotten, as all are by the next LoadModule.
  set @0 :UInt32;
  buffers @1 :List(BufferHandle);
}

struct RunPlan {
  # Run the plan once on each named set, in order. Timed: cold L2 before each, each run timed on the
  # device; untimed: no flush. `dirty_shared` fills shared memory with rubbish before.
  sets @0 :List(UInt32);
  timed @1 :Bool;
  dirtyShared @2 :Bool;
}

struct ToRunner $Record.message(9) {
  union {
    loadModule @0 :LoadModule;
    bindBuffers @1 :BindBuffers;
    runPlan @2 :RunPlan;
  }
}

struct RunnerReady {
  # Sent once, when the runner's context is up.
}

struct Done {
  runUs @0 :List(Float64);  # for a timed RunPlan: one a set
  smClockMhz @1 :Float64;  # seen on the device while timing; 0: unknown
  output @2 :Text;  # what the candidate printed, cut at a cap
}

struct Failed {
  # Load, launch or fault: LaunchError, DeviceFault, ResourceError, Rejected or Infrastructure. A
  # runner that reports a DeviceFault ends itself.
  outcome @0 :Outcome $Record.init("Infrastructure{}");
  output @1 :Text;
}

struct FromRunner $Record.message(10) {
  union {
    runnerReady @0 :RunnerReady;
    done @1 :Done;
    failed @2 :Failed;
  }
}

struct Episode {
  seed @0 :UInt64;  # of this action's sampling
  turns @1 :List(Turn);  # so far
}

struct ActRequest {
  id @0 :UInt64;
  run @1 :UInt64 $Record.type("RunId");
  policy @2 :Text;  # kind
  task @3 :Task;
  device @4 :DeviceFacts;
  episodes @5 :List(Episode);
}

struct LoadWeights {
  # Weights of a run's policy, as a safetensors file that stays until the reply.
  id @0 :UInt64;
  run @1 :UInt64 $Record.type("RunId");
  policy @2 :Text;
  version @3 :PolicyVersion;
  path @4 :Text;
}

struct ToPolicy $Record.message(11) {
  union {
    actRequest @0 :ActRequest;
    loadWeights @1 :LoadWeights;
  }
}

struct ActReply {
  id @0 :UInt64;
  actions @1 :List(Action);  # one an episode; empty when `problem` says why not
  problem @2 :Text;  # the policy cannot write for this task, now or later
}

struct WeightsLoaded {
  id @0 :UInt64;
  run @1 :UInt64 $Record.type("RunId");
  version @2 :PolicyVersion;
  problem @3 :Text;  # empty: in use
}

struct FromPolicy $Record.message(12) {
  union {
    actReply @0 :ActReply;
    weightsLoaded @1 :WeightsLoaded;
  }
}
