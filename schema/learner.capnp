# A learner with the coordinator (DEALER to ROUTER), and workers that pull weights from it (ROUTER).
@0x978c7c9a5ccd99f8;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");
using Model = import "model.capnp";
using Worker = import "worker.capnp";

enum Fate {
  trained @0;
  stale @1;
  dropped @2;
}

struct TrainingWatermark {
  below @0 :UInt64;
  exceptions @1 :List(UInt64);
}

struct LearnerRunState {
  run @0 :UInt64;
  watermark @1 :TrainingWatermark;
  version @2 :Model.PolicyVersion;
}

struct RegisterLearner {
  protocolVersion @0 :UInt32;
  name @1 :Text;
  runs @2 :List(LearnerRunState);
}

struct ConsumedTrajectory {
  publishSeq @0 :UInt64;
  fate @1 :Fate;
}

struct StepReport {
  step @0 :UInt64;
  episodes @1 :Int32;
  turns @2 :Int32;
  meanReward @3 :Float64;
  passRate @4 :Float64;
  meanSpeedup @5 :Float64;
  loss @6 :Float64;
  entropy @7 :Float64;
  approxKl @8 :Float64;
  clipFraction @9 :Float64;
  meanStaleness @10 :Float64;
  seconds @11 :Float64;
}

struct CheckpointDurable {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
  parent @2 :Model.PolicyVersion;
  consumed @3 :List(ConsumedTrajectory);
  watermark @4 :TrainingWatermark;
  report @5 :StepReport;
}

struct RunTrained {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
}

struct RunRefused {
  run @0 :UInt64;
  why @1 :Text;
}

struct WelcomeLearner {
  epoch @0 :UInt64;
  incarnation @1 :UInt64;
  heartbeat @2 :Int64;  # ns
  redis @3 :Text;
}

struct TrainRun {
  run @0 :UInt64;
  spec @1 :Model.RunSpec;
  stream @2 :Text;
}

struct CloseRun {
  run @0 :UInt64;
  endSeq @1 :UInt64;
}

struct AckCheckpoint {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
}

struct ForgetRun {
  run @0 :UInt64;
}

struct ChunkRequest {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
  offset @2 :UInt64;
  bytes @3 :UInt32;
}

struct Chunk {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
  offset @2 :UInt64;
  bytes @3 :Data;
  sha256 @4 :Text;
}

struct ChunkGone {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
}

struct LearnerMessage {
  union {
    registerLearner @0 :RegisterLearner;
    heartbeat @1 :Worker.Heartbeat;
    weightsAnnouncement @2 :Worker.WeightsAnnouncement;
    checkpointDurable @3 :CheckpointDurable;
    runTrained @4 :RunTrained;
    runRefused @5 :RunRefused;
  }
}

struct CoordinatorToLearner {
  union {
    welcomeLearner @0 :WelcomeLearner;
    refused @1 :Worker.Refused;
    unknown @2 :Worker.Unknown;
    heartbeatReply @3 :Worker.HeartbeatReply;
    trainRun @4 :TrainRun;
    closeRun @5 :CloseRun;
    ackCheckpoint @6 :AckCheckpoint;
    forgetRun @7 :ForgetRun;
  }
}

struct WeightsRequest {
  union {
    chunkRequest @0 :ChunkRequest;
    none @1 :Void;  # a union has two members at least; never sent
  }
}

struct WeightsReply {
  union {
    chunk @0 :Chunk;
    chunkGone @1 :ChunkGone;
  }
}
