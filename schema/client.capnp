# The `warpsmith` command and the coordinator: one request, one reply.
@0xa5d56a8fadef3264;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");
using Model = import "model.capnp";
using Learner = import "learner.capnp";

struct SubmitRun {
  key @0 :Text;
  spec @1 :Model.RunSpec;
}

struct SubmitEvaluation {
  key @0 :Text;
  job @1 :Model.EvaluationJob;
  device @2 :Text;
}

struct CancelRun {
  run @0 :UInt64;
}

struct GetCluster {}

struct GetRun {
  run @0 :UInt64;
}

struct GetJob {
  job @0 :UInt64;
}

struct GetBest {
  run @0 :UInt64;
}

struct GetHistory {
  run @0 :UInt64;
}

struct RunAccepted {
  run @0 :UInt64;
}

struct JobAccepted {
  job @0 :UInt64;
}

struct RunStatus {
  run @0 :UInt64;
  name @1 :Text;
  policy @2 :Text;
  state @3 :Model.RunState;
  device @4 :Text;
  budgetEvaluations @5 :Int64;
  admittedEvaluations @6 :Int64;
  finishedEvaluations @7 :Int64;
  correctEvaluations @8 :Int64;
  infrastructureEvaluations @9 :Int64;
  trajectoriesAccepted @10 :Int64;
  trajectoriesConsumed @11 :Int64;
  trajectoriesTrained @12 :Int64;
  trajectoriesStale @13 :Int64;
  jobsQueued @14 :Int64;
  jobsLeased @15 :Int64;
  version @16 :Model.PolicyVersion;
  bestSpeedup @17 :Float64;
  bestTask @18 :Text;
  startedAtMs @19 :Int64;
  endedAtMs @20 :Int64;
  problem @21 :Text;
}

struct WorkerStatus {
  id @0 :Text;
  name @1 :Text;
  state @2 :Text;
  devices @3 :List(Model.DeviceFacts);
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
  conservationError @10 :Int64;
  problem @11 :Text;
}

struct JobStatus {
  job @0 :UInt64;
  state @1 :Text;
  results @2 :List(List(Model.Evaluation));
  problem @3 :Text;
}

struct OutcomeCount {
  outcome @0 :Text;
  count @1 :Int64;
}

struct BestRow {
  task @0 :Text;
  outcomes @1 :List(OutcomeCount);
  candidate @2 :Text;
  evaluation @3 :Model.Evaluation;
}

struct BestTable {
  run @0 :UInt64;
  rows @1 :List(BestRow);
}

struct EvaluationPoint {
  task @0 :Text;
  outcome @1 :Text;
  speedup @2 :Float64;
  reward @3 :Float64;
  step @4 :UInt64;
  turn @5 :Int32;
}

struct History {
  status @0 :RunStatus;
  evaluations @1 :List(EvaluationPoint);
  steps @2 :List(Learner.StepReport);
}

struct RequestFailed {
  code @0 :Text;
  why @1 :Text;
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
