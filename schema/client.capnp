# The `warpsmith` command and the coordinator: one request, one reply.
@0xa5d56a8fadef3264;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".DeviceFacts;
using import "outcome.capnp".Evaluation;
using import "trajectory.capnp".PolicyVersion;
using import "run.capnp".EvaluationJob;
using import "run.capnp".RunSpec;
using import "run.capnp".RunState;
using import "learner.capnp".StepReport;
$Cxx.namespace("warpsmith::wire");

struct SubmitRun {
  key @0 :Text;  # chosen by the client, unique for the submission
  spec @1 :RunSpec;
}

struct SubmitEvaluation {
  key @0 :Text;
  job @1 :EvaluationJob;
  device @2 :Text $Record.init("\"auto\"");
}

struct CancelRun {
  run @0 :UInt64 $Record.type("RunId");
}

struct GetCluster {}

struct GetRun {
  run @0 :UInt64 $Record.type("RunId");
}

struct GetJob {
  job @0 :UInt64 $Record.type("JobId");
}

struct GetBest {
  # The tasks of a run with baselines, best candidates and outcome counts.
  run @0 :UInt64 $Record.type("RunId");
}

struct GetHistory {
  # All that a report draws: points of evaluations in order, and step reports.
  run @0 :UInt64 $Record.type("RunId");
}

struct ClientRequest {
  union {
    submitRun @0 :SubmitRun;
    submitEvaluation @1 :SubmitEvaluation;
    cancelRun @2 :CancelRun;
    getCluster @3 :GetCluster;
    getRun @4 :GetRun;
    getJob @5 :GetJob;
    getBest @6 :GetBest;
    getHistory @7 :GetHistory;
  }
}

struct RunAccepted {
  run @0 :UInt64 $Record.type("RunId");
}

struct JobAccepted {
  job @0 :UInt64 $Record.type("JobId");
}

struct RunStatus {
  run @0 :UInt64 $Record.type("RunId");
  name @1 :Text;
  policy @2 :Text;
  state @3 :RunState;
  device @4 :Text;  # "auto" until the first job is granted
  budgetEvaluations @5 :Int64;
  admittedEvaluations @6 :Int64;
  finishedEvaluations @7 :Int64;
  correctEvaluations @8 :Int64;
  infrastructureEvaluations @9 :Int64;  # masked
  trajectoriesAccepted @10 :Int64;
  trajectoriesConsumed @11 :Int64;  # trained, stale or dropped
  trajectoriesTrained @12 :Int64;
  trajectoriesStale @13 :Int64;
  jobsQueued @14 :Int64;
  jobsLeased @15 :Int64;
  version @16 :PolicyVersion;
  bestSpeedup @17 :Float64;
  bestTask @18 :Text $Record.type("TaskId");
  startedAtMs @19 :Int64;
  endedAtMs @20 :Int64;  # 0: not yet
  problem @21 :Text;  # why it waits or failed; empty: nothing to say
}

struct WorkerStatus {
  id @0 :Text;
  name @1 :Text;
  state @2 :Text;  # alive, torpid
  devices @3 :List(DeviceFacts);
  jobsLeased @4 :Int64;
  results @5 :Int64;
  silentS @6 :Float64;
}

struct ClusterStatus {
  epoch @0 :UInt64;
  runs @1 :List(RunStatus);
  workers @2 :List(WorkerStatus);
  learnerAlive @3 :Bool;
  redisAlive @4 :Bool;
  jobsSubmitted @5 :Int64;
  jobsQueued @6 :Int64;
  jobsLeased @7 :Int64;
  jobsFinished @8 :Int64;
  jobsCancelled @9 :Int64;
  conservationError @10 :Int64;  # must be 0
  problem @11 :Text;
}

struct JobStatus {
  job @0 :UInt64 $Record.type("JobId");
  state @1 :Text;  # queued, leased, finished, cancelled
  results @2 :List(List(Evaluation));  # one a candidate
  problem @3 :Text;
}

struct OutcomeCount {
  outcome @0 :Text;  # word of outcome.h
  count @1 :Int64;
}

struct BestRow {
  task @0 :Text $Record.type("TaskId");
  outcomes @1 :List(OutcomeCount);
  candidate @2 :Text;  # text of the best correct candidate; empty: none
  evaluation @3 :Evaluation;  # its record
}

struct BestTable {
  run @0 :UInt64 $Record.type("RunId");
  rows @1 :List(BestRow);
}

struct EvaluationPoint {
  # One evaluation of a run, in the order results were accepted.
  task @0 :Text $Record.type("TaskId");
  outcome @1 :Text;  # word
  speedup @2 :Float64;
  reward @3 :Float64;
  step @4 :UInt64;  # of the policy version that wrote it
  turn @5 :Int32;
  rewardVersion @6 :UInt32 = 1;  # of the formula that gave the reward
}

struct History {
  status @0 :RunStatus;
  evaluations @1 :List(EvaluationPoint);
  steps @2 :List(StepReport);
}

struct RequestFailed {
  code @0 :Text;  # of common/base/result.h
  why @1 :Text;
}

struct ClientReply {
  union {
    runAccepted @0 :RunAccepted;
    jobAccepted @1 :JobAccepted;
    runStatus @2 :RunStatus;
    clusterStatus @3 :ClusterStatus;
    jobStatus @4 :JobStatus;
    bestTable @5 :BestTable;
    history @6 :History;
    requestFailed @7 :RequestFailed;
  }
}
