# A supervisor with its children, and an oracle with its runner, over socketpairs. Descriptors travel
# beside a frame. What a compiler or a runner says is evidence to check.
@0xf486782688d2e4f9;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");
using Model = import "model.capnp";

enum Access {
  readOnly @0;
  readWrite @1;
}

struct CompileRequest {
  id @0 :UInt64;
  text @1 :Text;
  deviceKind @2 :Model.DeviceKind;
  architecture @3 :Text;
}

struct CompileResult {
  union {
    compiledCandidate @0 :Model.CompiledCandidate;
    outcome @1 :Model.Outcome;
  }
}

struct CompileReply {
  id @0 :UInt64;
  result @1 :CompileResult;
  ms @2 :Float64;
}

struct EvaluateRequest {
  id @0 :UInt64;
  task @1 :Model.Task;
  compiled @2 :Model.CompiledCandidate;
  depth @3 :Model.Depth;
}

struct RunnerAttached {
  runner @0 :UInt64;
}

struct OracleReady {
  device @0 :Model.DeviceFacts;
}

struct StageBegan {
  id @0 :UInt64;
  stage @1 :Model.Stage;
  runner @2 :UInt64;
  limit @3 :Int64;  # ns
}

struct StageEnded {
  id @0 :UInt64;
}

struct DiscardRunner {
  runner @0 :UInt64;
  why @1 :Text;
}

struct EvaluateReply {
  id @0 :UInt64;
  outcome @1 :Model.Outcome;
  stages @2 :List(Model.StageTime);
  log @3 :Text;
}

struct OracleFailed {
  kind @0 :Model.InfrastructureKind;
  why @1 :Text;
}

struct BufferHandle {
  mappingBytes @0 :UInt64;
  offset @1 :UInt64;
  size @2 :UInt64;
  access @3 :Access;
}

struct LoadModule {
  binary @0 :Data;
  kernels @1 :List(Model.KernelInfo);
  plan @2 :Model.ResolvedPlan;
}

struct BindBuffers {
  set @0 :UInt32;
  buffers @1 :List(BufferHandle);
}

struct RunPlan {
  sets @0 :List(UInt32);
  timed @1 :Bool;
  dirtyShared @2 :Bool;
}

struct RunnerReady {}

struct Done {
  runUs @0 :List(Float64);
  smClockMhz @1 :Float64;
  output @2 :Text;
}

struct Failed {
  outcome @0 :Model.Outcome;
  output @1 :Text;
}

struct Episode {
  seed @0 :UInt64;
  turns @1 :List(Model.Turn);
}

struct ActRequest {
  id @0 :UInt64;
  run @1 :UInt64;
  policy @2 :Text;
  task @3 :Model.Task;
  device @4 :Model.DeviceFacts;
  episodes @5 :List(Episode);
}

struct LoadWeights {
  id @0 :UInt64;
  run @1 :UInt64;
  policy @2 :Text;
  version @3 :Model.PolicyVersion;
  path @4 :Text;
}

struct ActReply {
  id @0 :UInt64;
  actions @1 :List(Model.Action);
  problem @2 :Text;
}

struct WeightsLoaded {
  id @0 :UInt64;
  run @1 :UInt64;
  version @2 :Model.PolicyVersion;
  problem @3 :Text;
}

struct ToOracle {
  union {
    evaluateRequest @0 :EvaluateRequest;
    runnerAttached @1 :RunnerAttached;
  }
}

struct FromOracle {
  union {
    oracleReady @0 :OracleReady;
    stageBegan @1 :StageBegan;
    stageEnded @2 :StageEnded;
    discardRunner @3 :DiscardRunner;
    evaluateReply @4 :EvaluateReply;
    oracleFailed @5 :OracleFailed;
  }
}

struct ToRunner {
  union {
    loadModule @0 :LoadModule;
    bindBuffers @1 :BindBuffers;
    runPlan @2 :RunPlan;
  }
}

struct FromRunner {
  union {
    runnerReady @0 :RunnerReady;
    done @1 :Done;
    failed @2 :Failed;
  }
}

struct ToPolicy {
  union {
    actRequest @0 :ActRequest;
    loadWeights @1 :LoadWeights;
  }
}

struct FromPolicy {
  union {
    actReply @0 :ActReply;
    weightsLoaded @1 :WeightsLoaded;
  }
}
