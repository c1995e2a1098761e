# A learner with the coordinator (DEALER to ROUTER), and workers that pull weights from it (ROUTER).
@0x978c7c9a5ccd99f8;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "trajectory.capnp".PolicyVersion;
using import "run.capnp".RunSpec;
using import "worker.capnp".Heartbeat;
using import "worker.capnp".HeartbeatReply;
using import "worker.capnp".Refused;
using import "worker.capnp".Unknown;
using import "worker.capnp".WeightsAnnouncement;
$Cxx.namespace("warpsmith::wire");

struct TrainingWatermark {
  # What a learner's newest durable checkpoint of a run has passed.
  below @0 :UInt64;  # every publish_seq < below is consumed ...
  exceptions @1 :List(UInt64);  # ... and these above it
}

struct LearnerRunState {
  run @0 :UInt64 $Record.type("RunId");
  watermark @1 :TrainingWatermark;
  version @2 :PolicyVersion;  # newest durable checkpoint
}

struct RegisterLearner {
  # First message of an incarnation, and again after Unknown.
  protocolVersion @0 :UInt32 $Record.init("kOldestProtocol");  # the oldest that it speaks
  newestProtocol @3 :UInt32 $Record.init("kNewestProtocol");  # 0 (release 0.1): that one
  name @1 :Text;
  runs @2 :List(LearnerRunState);  # from the checkpoints it found
}

enum Fate {
  trained @0;
  stale @1;
  dropped @2;
}

struct ConsumedTrajectory {
  publishSeq @0 :UInt64;
  fate @1 :Fate;
}

struct StepReport {
  # What one step did, for the learning curve.
  step @0 :UInt64;
  episodes @1 :Int32;
  turns @2 :Int32;
  meanReward @3 :Float64;
  passRate @4 :Float64;  # correct turns / rewarded turns
  meanSpeedup @5 :Float64;  # over correct turns
  loss @6 :Float64;
  entropy @7 :Float64;  # nats a choice
  approxKl @8 :Float64;
  clipFraction @9 :Float64;
  meanStaleness @10 :Float64;  # steps
  seconds @11 :Float64;
}

struct CheckpointDurable $Record.message(20) {
  # A checkpoint that holds these trajectories is durable. Repeated until acknowledged.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
  parent @2 :PolicyVersion;
  consumed @3 :List(ConsumedTrajectory);  # since the parent
  watermark @4 :TrainingWatermark;  # after it
  report @5 :StepReport;
}

struct RunTrained {
  # The run's policy is at this version and every trajectory up to the closing one is consumed.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
}

struct RunRefused {
  # This learner cannot train the run and trying again would change nothing (no family of its policy
  # fits a task, a checkpoint of no use): the run fails. Repeated until told to forget it.
  run @0 :UInt64 $Record.type("RunId");
  why @1 :Text;
}

struct LearnerMessage {
  union {
    registerLearner @0 :RegisterLearner;
    heartbeat @1 :Heartbeat;
    weightsAnnouncement @2 :WeightsAnnouncement;
    checkpointDurable @3 :CheckpointDurable;
    runTrained @4 :RunTrained;
    runRefused @5 :RunRefused;
  }
}

struct WelcomeLearner {
  epoch @0 :UInt64;
  incarnation @1 :UInt64;  # durable, new with every registration of a new process
  heartbeat @2 :Int64 $Record.type("Duration");
  redis @3 :Text;  # "unix:/path" or "tcp:host:port"
  protocol @4 :UInt32 = 1;  # what both speak from now on
}

struct TrainRun {
  # Train this run's policy. Sent after a welcome, and when a run starts.
  run @0 :UInt64 $Record.type("RunId");
  spec @1 :RunSpec;
  stream @2 :Text;  # Redis key of its trajectories
}

struct CloseRun {
  # Everything the run will ever publish lies below this: finish the last batch, however small.
  run @0 :UInt64 $Record.type("RunId");
  endSeq @1 :UInt64;
}

struct AckCheckpoint {
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
}

struct ForgetRun {
  # Drop the run: it was cancelled, or has ended.
  run @0 :UInt64 $Record.type("RunId");
}

struct CoordinatorToLearner {
  union {
    welcomeLearner @0 :WelcomeLearner;
    refused @1 :Refused;
    unknown @2 :Unknown;
    heartbeatReply @3 :HeartbeatReply;
    trainRun @4 :TrainRun;
    closeRun @5 :CloseRun;
    ackCheckpoint @6 :AckCheckpoint;
    forgetRun @7 :ForgetRun;
  }
}

struct ChunkRequest {
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
  offset @2 :UInt64;
  bytes @3 :UInt32;
}

struct Chunk {
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
  offset @2 :UInt64;
  bytes @3 :Data;
  sha256 @4 :Text;  # of the bytes, hex
}

struct ChunkGone {
  # The version is no longer kept: wait for the next announcement.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
}

struct WeightsRequest $Record.message(3) {
  union {
    chunkRequest @0 :ChunkRequest;
    none @1 :Void;  # a union has two members at least; never sent
  }
}

struct WeightsReply $Record.message(4) {
  union {
    chunk @0 :Chunk;
    chunkGone @1 :ChunkGone;
  }
}
