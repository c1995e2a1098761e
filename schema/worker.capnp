# A worker (DEALER) and the coordinator (ROUTER). See README.md for who sends what when.
@0xd61e25729d1041af;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");
using Model = import "model.capnp";

struct HeldLease {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  deviceIndex @2 :Int32;
}

struct RegisterWorker {
  protocolVersion @0 :UInt32;
  name @1 :Text;
  devices @2 :List(Model.DeviceFacts);
  policies @3 :List(Text);
  capacity @4 :UInt32;
  held @5 :List(HeldLease);
}

struct Heartbeat {}

struct Progress {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  evaluations @2 :UInt64;
}

struct TrajectoryResult {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  trajectory @2 :Model.Trajectory;
}

struct EvaluationResult {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  index @2 :UInt32;
  evaluation @3 :Model.Evaluation;
}

struct JobFailed {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  kind @2 :Model.InfrastructureKind;
  detail @3 :Text;
  policyRefuses @4 :Bool;
}

struct WeightsInUse {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
}

struct WeightsRefused {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
  why @2 :Text;
}

struct Leaving {}

struct WelcomeWorker {
  epoch @0 :UInt64;
  heartbeat @1 :Int64;  # ns
  lease @2 :Int64;  # ns
  adopted @3 :List(HeldLease);
}

struct Refused {
  why @0 :Text;
}

struct Unknown {}

struct AssignJob {
  job @0 :UInt64;
  fence @1 :Model.Fence;
  deviceIndex @2 :Int32;
  lease @3 :Int64;  # ns
  totalDeadline @4 :Int64;  # ns
  body @5 :Model.JobBody;
}

struct AckTrajectory {
  id @0 :Model.TrajectoryId;
}

struct AckEvaluation {
  job @0 :UInt64;
  index @1 :UInt32;
}

struct CancelJob {
  job @0 :UInt64;
  fence @1 :Model.Fence;
}

struct WeightsAnnouncement {
  run @0 :UInt64;
  version @1 :Model.PolicyVersion;
  endpoint @2 :Text;
  sizeBytes @3 :UInt64;
  chunkBytes @4 :UInt32;
  sha256 @5 :Text;
}

struct HeartbeatReply {
  epoch @0 :UInt64;
}

struct WorkerMessage {
  union {
    registerWorker @0 :RegisterWorker;
    heartbeat @1 :Heartbeat;
    progress @2 :Progress;
    trajectoryResult @3 :TrajectoryResult;
    evaluationResult @4 :EvaluationResult;
    jobFailed @5 :JobFailed;
    weightsInUse @6 :WeightsInUse;
    leaving @7 :Leaving;
    weightsRefused @8 :WeightsRefused;
  }
}

struct CoordinatorToWorker {
  union {
    welcomeWorker @0 :WelcomeWorker;
    refused @1 :Refused;
    unknown @2 :Unknown;
    assignJob @3 :AssignJob;
    ackTrajectory @4 :AckTrajectory;
    ackEvaluation @5 :AckEvaluation;
    cancelJob @6 :CancelJob;
    weightsAnnouncement @7 :WeightsAnnouncement;
    heartbeatReply @8 :HeartbeatReply;
  }
}
