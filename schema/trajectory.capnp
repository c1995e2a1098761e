# What a policy wrote and what became of it.
@0x9f3e6d2c1b5a8c51;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".DeviceFacts;
using import "outcome.capnp".Evaluation;
$Cxx.namespace("warpsmith::wire");

struct PolicyVersion $Record.ordered {
  # Ordered lexicographically; never decreases. {0, 0}: the policy's start, before any training.
  incarnation @0 :UInt64;  # of the learner
  step @1 :UInt64;
}

struct Action {
  # What a policy returned for one observation. ids, log_probs and mask have one length.
  ids @0 :List(Int32);  # tokens or slot choices, in order
  logProbs @1 :List(Float32);  # of each id, as sampled
  mask @2 :Data $Record.bytes;  # 1: chosen by the policy (trainable), 0: forced
  version @3 :PolicyVersion;  # the oldest that any id was sampled with
  text @4 :Text;  # the candidate
}

struct Turn {
  action @0 :Action;
  evaluation @1 :Evaluation;
  reward @2 :Float64;  # by the run's reward function; 0 where the outcome is infrastructure
  rewardVersion @3 :UInt32 = 1;  # of that function's formula
}

struct TrajectoryId $Record.ordered {
  # Independent of attempt: the first accepted record of an id wins.
  run @0 :UInt64 $Record.type("RunId");
  group @1 :UInt64 $Record.type("GroupId");
  episode @2 :UInt32;
}

struct Trajectory $Record.message(16) {
  id @0 :TrajectoryId;
  task @1 :Text $Record.type("TaskId");
  turns @2 :List(Turn);
  device @3 :DeviceFacts;
  finishedAtMs @4 :Int64;  # wall clock, for people
}
