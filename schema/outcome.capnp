# How an evaluation ended, and its measurements with their evidence. An outcome is data. Times of
# runs are microseconds of one run of the whole plan.
@0xe2b5c8d1f4a79b41;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".ClockMode;
using import "device.capnp".DeviceFacts;
using import "device.capnp".DeviceKind;
using import "task.capnp".Case;
using import "plan.capnp".KernelInfo;
$Cxx.namespace("warpsmith::wire");

enum Validity {
  valid @0;
  noisy @1;
  throttled @2;
  clocksUnverified @3;
}

enum Comparison {
  faster @0;
  slower @1;
  tie @2;
}

struct Measurement {
  timedCase @0 :Case;
  baseline @1 :Text $Record.init("\"eager\"");
  deviceKind @2 :DeviceKind $Record.init("DeviceKind::kHost");
  clockMode @3 :ClockMode $Record.init("ClockMode::kObserved");
  validity @4 :Validity;
  candidateUs @5 :Float64;  # medians over blocks
  baselineUs @6 :Float64;
  speedup @7 :Float64;  # exp(median log ratio); baseline by candidate
  speedupLow @8 :Float64;  # bootstrap interval
  speedupHigh @9 :Float64;
  confidence @10 :Float64 $Record.init("0.95");
  noise @11 :Float64;  # relative half-width of baseline against itself; 0: unknown
  comparison @12 :Comparison $Record.init("Comparison::kTie");
  floorUs @13 :Float64;  # 0: unknown
  belowFloor @14 :Bool;
  warmCandidateUs @15 :Float64 $Record.retired;
  smClockMhz @16 :Float64;  # 0: unknown
  candidateBlockUs @17 :List(Float64);  # One entry a block, in the order they ran.
  baselineBlockUs @18 :List(Float64);
}

enum Stage {
  admit @0;
  compile @1;
  load @2;
  verify @3;
  screen @4;
  measure @5;
  confirm @6;
  profile @7 $Record.retired;
}

struct WrongOutputReport {
  # Where and how an output is wrong, for people and policies.
  output @0 :Text;
  failedCase @1 :Case;
  reason @2 :Text;  # "value", "nan_mismatch", "inf_mismatch", "error_bound"
  wrongElements @3 :UInt64;
  elements @4 :UInt64;
  firstIndex @5 :List(Int64);  # in every dimension
  expected @6 :Float64;
  got @7 :Float64;
  worstIndex @8 :List(Int64);
  worstExpected @9 :Float64;
  worstGot @10 :Float64;
  maxAbsError @11 :Float64;
  maxRelError @12 :Float64;
  rmsError @13 :Float64;
  pattern @14 :Text;  # "last column", "all zero", "never written"; may be empty
}

struct Rejected {
  # The candidate's fault: each becomes a reward.
  why @0 :Text;
}

struct CompileError {
  log @0 :Text;
}

struct ResourceError {
  limit @0 :Text;
}

struct LaunchError {
  code @0 :Text;
}

struct WrongOutput {
  report @0 :WrongOutputReport;
}

struct Nondeterministic {
  output @0 :Text;
}

struct Timeout {
  stage @0 :Stage $Record.init("Stage::kVerify");
}

struct DeviceFault {
  code @0 :Text;
}

enum ViolationKind {
  inputModified @0;
  outOfBounds @1;
  uneven @2;
  timeForged @3;
  implausible @4;
  disturbs @5;
}

struct Violation {
  kind @0 :ViolationKind;
  detail @1 :Text;
}

struct Correct {
  measurements @0 :List(Measurement);  # one a timed case; empty when only verified
  speedup @1 :Float64;  # geometric mean over valid measurements; ties count 1; 0: not measured
}

enum InfrastructureKind {
  # Nobody's fault that may be rewarded: tried again elsewhere, then masked and counted.
  workerLost @0;
  deviceLost @1;
  deviceSick @2;
  driver @3;
  disk @4;
  clocksUnverified @5;
  tooNoisy @6;
  unsupportedArchitecture @7;
  outOfMemory @8;
  internal @9;
}

struct Infrastructure {
  kind @0 :InfrastructureKind $Record.init("InfrastructureKind::kInternal");
  detail @1 :Text;
}

struct Outcome {
  union {
    rejected @0 :Rejected;
    compileError @1 :CompileError;
    resourceError @2 :ResourceError;
    launchError @3 :LaunchError;
    wrongOutput @4 :WrongOutput;
    nondeterministic @5 :Nondeterministic;
    timeout @6 :Timeout;
    deviceFault @7 :DeviceFault;
    violation @8 :Violation;
    correct @9 :Correct;
    infrastructure @10 :Infrastructure;
  }
}

struct StageTime {
  stage @0 :Stage;
  ms @1 :Float64;
}

enum Depth {
  # How deep an evaluation goes. Each depth does all that stands before it.
  verify @0;
  screen @1;
  measure @2;
  confirm @3;
}

struct Evaluation $Record.message(19) {
  # The record of one evaluation.
  candidateHash @0 :Text;  # SHA-256 of the text, hex
  task @1 :Text $Record.type("TaskId");
  outcome @2 :Outcome $Record.init("Infrastructure{}");
  device @3 :DeviceFacts;
  depth @4 :Depth $Record.init("Depth::kScreen");
  stages @5 :List(StageTime);
  kernels @6 :List(KernelInfo);  # resources as the compiler reported them
  log @7 :Text;  # compiler's or program's output, cut at a cap
}

enum RewardKind {
  milestone @0;
  # CUDA Agent: -1 not correct; 1 correct; 2 faster than eager; 3 also faster by > 5 % than every
  # measured compiler baseline
  hybrid @1;
  # not correct: -1 .. -0.5 by how far it came; correct: 1 + log2(speed-up) / 4, the speed-up cut to
  # [1/16, 16], so that slow kernels still feel a slope
  speedup @2;  # 0 not correct; else the speed-up
}
