# A worker (DEALER) and the coordinator (ROUTER). See README.md for who sends what when.
@0xd61e25729d1041af;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".DeviceFacts;
using import "outcome.capnp".Evaluation;
using import "outcome.capnp".InfrastructureKind;
using import "trajectory.capnp".PolicyVersion;
using import "trajectory.capnp".Trajectory;
using import "trajectory.capnp".TrajectoryId;
using import "run.capnp".Fence;
using import "run.capnp".JobBody;
$Cxx.namespace("warpsmith::wire");

const newestProtocol :UInt32 = 2;
# Raised with each release that says something new. Peers speak the newest that both know.

const oldestProtocol :UInt32 = 1;
# The release before this one: releases that are one apart work together.

struct HeldLease {
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  deviceIndex @2 :Int32;  # the lane, as registered
}

struct RegisterWorker {
  # First message of an incarnation, and again whenever the coordinator answers Unknown.
  protocolVersion @0 :UInt32 $Record.init("kOldestProtocol");  # the oldest that it speaks
  newestProtocol @6 :UInt32 $Record.init("kNewestProtocol");  # 0 (release 0.1): that one
  name @1 :Text;  # host name and pid, for people
  devices @2 :List(DeviceFacts);  # the worker's lanes
  policies @3 :List(Text);  # kinds that it can run: "random", "grammar"
  capacity @4 :UInt32 $Record.init("1");  # jobs that it wants to hold at once
  held @5 :List(HeldLease);  # still being worked on
}

struct Heartbeat {
  # Says "I am here"; renews no lease.
}

struct Progress {
  # Renews the lease of a job on which something really moved, or of which something stands within
  # the limits that the worker's supervisor has for it, which are longer than a lease.
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  evaluations @2 :UInt64;  # finished so far in this attempt
}

struct TrajectoryResult {
  # One episode ended. Repeated until acknowledged.
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  trajectory @2 :Trajectory;
}

struct EvaluationResult {
  # One candidate of an evaluation job was judged. Repeated until acknowledged.
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  index @2 :UInt32;  # of the candidate in the job
  evaluation @3 :Evaluation;
}

struct JobFailed {
  # The attempt cannot go on; what was finished has been sent as results.
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  kind @2 :InfrastructureKind $Record.init("InfrastructureKind::kInternal");
  detail @3 :Text;
  policyRefuses @4 :Bool;
  # The worker's policy cannot write for this task: it gets no more of the run, which fails when no
  # worker's can.
}

struct WeightsInUse {
  # The worker's policy now runs this version of the run's weights.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
}

struct WeightsRefused {
  # The worker's policy does not take this version: its file is broken, or made for another release.
  # Tried again there no more; said again with each announcement of it.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
  why @2 :Text;
}

struct Leaving {
  # The worker stops: give it nothing more; what it holds will be finished or comes back as
  # JobFailed.
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

struct WelcomeWorker {
  epoch @0 :UInt64;  # of this coordinator's life
  heartbeat @1 :Int64 $Record.type("Duration");  # send one at least this often
  lease @2 :Int64 $Record.type("Duration");  # a job without progress for so long is taken away
  adopted @3 :List(HeldLease);  # held leases that go on, with their new fences
  protocol @4 :UInt32 = 1;  # what both speak from now on
}

struct Refused {
  # The peer cannot be served (protocol version, name): stop and say why.
  why @0 :Text;
}

struct Unknown {
  # The coordinator does not know this peer (it restarted): register again.
}

struct AssignJob {
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
  deviceIndex @2 :Int32;  # the lane, as registered
  lease @3 :Int64 $Record.type("Duration");
  totalDeadline @4 :Int64 $Record.type("Duration");  # from the grant
  body @5 :JobBody;
}

struct AckTrajectory {
  # The result is durable (or was known already): forget it.
  id @0 :TrajectoryId;
}

struct AckEvaluation {
  job @0 :UInt64 $Record.type("JobId");
  index @1 :UInt32;
}

struct CancelJob {
  # Stop working on this attempt and drop what it has not reported.
  job @0 :UInt64 $Record.type("JobId");
  fence @1 :Fence;
}

struct WeightsAnnouncement {
  # New weights can be pulled. Small, and repeated.
  run @0 :UInt64 $Record.type("RunId");
  version @1 :PolicyVersion;
  endpoint @2 :Text;  # of the learner's weights socket
  sizeBytes @3 :UInt64;
  chunkBytes @4 :UInt32;
  sha256 @5 :Text;  # of the whole, hex
}

struct HeartbeatReply {
  # Still here, same epoch.
  epoch @0 :UInt64;
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
