# A training run that somebody submitted, and the jobs it becomes.
@0xa8e7d6c5b4f39261;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "task.capnp".Suite;
using import "task.capnp".Task;
using import "outcome.capnp".Depth;
using import "outcome.capnp".RewardKind;
using import "trajectory.capnp".PolicyVersion;
$Cxx.namespace("warpsmith::wire");

struct Algorithm {
  advantage @0 :Text $Record.init("\"trloo\"");
  turns @1 :Int32 $Record.init("4");  # candidates an episode
  group @2 :Int32 $Record.init("16");  # episodes on the same task
  batchEpisodes @3 :Int32 $Record.init("64");  # episodes a learner step
  staleness @4 :Int32 $Record.init("4");  # steps that a trajectory may lag behind
  learningRate @5 :Float64 $Record.init("1e-2");
  epochs @6 :Int32 $Record.init("2");  # passes over a batch
  clipLow @7 :Float64 $Record.init("0.2");
  clipHigh @8 :Float64 $Record.init("0.28");
  importanceCap @9 :Float64 $Record.init("2");  # truncation of the decoupled importance weight
  entropy @10 :Float64 $Record.init("0.01");  # bonus, in nats
}

struct RunSpec $Record.message(17) {
  name @0 :Text;
  suites @1 :List(Suite);  # whole: the coordinator needs no file of the submitter's
  policy @2 :Text $Record.init("\"grammar\"");  # grammar, random
  algorithm @3 :Algorithm;
  reward @4 :RewardKind $Record.init("RewardKind::kHybrid");
  budgetEvaluations @5 :Int64;
  device @6 :Text $Record.init("\"auto\"");
  # auto: the best kind that the fleet has when the run starts
  seed @7 :UInt64 $Record.init("1");
}

enum RunState {
  running @0;
  finishing @1;
  complete @2;
  cancelled @3;
  failed @4;
}

struct RolloutJob {
  # One group's episodes on one task.
  run @0 :UInt64 $Record.type("RunId");
  group @1 :UInt64 $Record.type("GroupId");
  task @2 :Task;
  policy @3 :Text;
  episodes @4 :List(UInt32);  # those still missing
  turns @5 :Int32 $Record.init("1");
  reward @6 :RewardKind $Record.init("RewardKind::kHybrid");
  seed @7 :UInt64;  # of the group's sampling, not of any content
  minVersion @8 :PolicyVersion;  # a worker with older weights must not start it
  depth @9 :Depth $Record.retired;
}

struct EvaluationJob {
  # A list of candidates that somebody wants judged.
  task @0 :Task;
  candidates @1 :List(Text);
  depth @2 :Depth $Record.init("Depth::kMeasure");
}

struct JobBody $Record.message(18) {
  union {
    rolloutJob @0 :RolloutJob;
    evaluationJob @1 :EvaluationJob;
  }
}

struct Fence $Record.ordered {
  # Guards renewal, progress and cancel of one attempt.
  epoch @0 :UInt64;  # of the coordinator that granted it
  attempt @1 :UInt32;
}
