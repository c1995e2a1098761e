# Plain records of common/model: tasks, plans, outcomes, trajectories, runs. Their meaning is told in
# the headers of the same names; here is only their form.
@0xefc37d61d600d27b;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");

struct NamedText {
  name @0 :Text;
  text @1 :Text;
}

struct NamedSize {
  name @0 :Text;
  size @1 :Int64;
}

enum Dtype {
  float64 @0;
  float32 @1;
  float16 @2;
  bFloat16 @3;
  int64 @4;
  int32 @5;
  int16 @6;
  int8 @7;
  uint8 @8;
  bool @9;
}

enum DeviceKind {
  cuda @0;
  host @1;
  simulated @2;
}

enum ClockMode {
  locked @0;
  observed @1;
}

struct DeviceFacts {
  kind @0 :DeviceKind;
  index @1 :Int32;
  name @2 :Text;
  uuid @3 :Text;
  architecture @4 :Text;
  smCount @5 :Int32;
  warpSize @6 :Int32;
  maxThreadsPerBlock @7 :Int32;
  maxSharedBytes @8 :Int64;
  reservedSharedBytes @9 :Int64;
  memoryBytes @10 :Int64;
  l2Bytes @11 :Int64;
  peakBandwidthBytesPerS @12 :Float64;
  peakFlopsPerS @13 :Float64;
  clockMode @14 :ClockMode;
  driver @15 :Text;
  toolkit @16 :Text;
}

enum InitKind {
  normal @0;
  uniform @1;
  integer @2;
  index @3;
  oneHot @4;
  mask @5;
  constant @6;
}

enum CompareKind {
  value @0;
  exact @1;
  indexByValue @2;
  ulp @3;
}

enum CaseRole {
  train @0;
  holdout @1;
  edge @2;
}

struct Init {
  kind @0 :InitKind;
  scale @1 :Float64;
  low @2 :Float64;
  high @3 :Float64;
  value @4 :Float64;
  bound @5 :Text;
}

struct InputSpec {
  name @0 :Text;
  dtype @1 :Dtype;
  shape @2 :List(Text);
  init @3 :Init;
}

struct ScalarSpec {
  name @0 :Text;
  dtype @1 :Dtype;
  value @2 :Float64;
  expression @3 :Text;
}

struct OutputSpec {
  name @0 :Text;
  dtype @1 :Dtype;
  shape @2 :List(Text);
  rtol @3 :Float64;
  atol @4 :List(Float64);  # one or none
  compare @5 :CompareKind;
  ulps @6 :Int32;
  indexInto @7 :Text;
  orderFree @8 :Bool;
  equalNan @9 :Bool;
}

struct Work {
  flops @0 :Text;
  readBytes @1 :Text;
  writeBytes @2 :Text;
}

struct Case {
  role @0 :CaseRole;
  dims @1 :List(NamedSize);
}

struct Task {
  id @0 :Text;
  inputs @1 :List(InputSpec);
  scalars @2 :List(ScalarSpec);
  outputs @3 :List(OutputSpec);
  reference @4 :Text;
  reference64 @5 :Text;
  work @6 :Work;
  cudaCases @7 :List(Case);
  hostCases @8 :List(Case);
  starter @9 :Text;
}

struct Suite {
  name @0 :Text;
  tasks @1 :List(Task);
}

enum ParameterType {
  pointer @0;
  int8 @1;
  uint8 @2;
  int16 @3;
  uint16 @4;
  int32 @5;
  uint32 @6;
  int64 @7;
  uint64 @8;
  float32 @9;
  float64 @10;
  float16 @11;
  bFloat16 @12;
  bool @13;
  unsupported @14;
}

enum BufferRole {
  input @0;
  output @1;
  temp @2;
}

struct LaunchSpec {
  kernel @0 :Text;
  grid @1 :List(Text);
  block @2 :List(Text);
  shared @3 :Text;
  cluster @4 :List(Text);
  args @5 :List(Text);
}

struct TempSpec {
  name @0 :Text;
  dtype @1 :Dtype;
  shape @2 :List(Text);
}

struct Plan {
  let @0 :List(NamedText);
  launches @1 :List(LaunchSpec);
  temps @2 :List(TempSpec);
  zero @3 :List(Text);
}

struct KernelInfo {
  name @0 :Text;
  symbol @1 :Text;
  parameters @2 :List(ParameterType);
  registers @3 :Int32;
  spillBytes @4 :Int32;
  staticSharedBytes @5 :Int32;
  localBytes @6 :Int32;
  maxThreadsPerBlock @7 :Int32;
}

struct CompiledCandidate {
  deviceKind @0 :DeviceKind;
  architecture @1 :Text;
  plan @2 :Plan;
  kernels @3 :List(KernelInfo);
  binary @4 :Data;
  log @5 :Text;
}

struct BufferSpec {
  name @0 :Text;
  role @1 :BufferRole;
  dtype @2 :Dtype;
  shape @3 :List(Int64);
  zero @4 :Bool;
}

struct ResolvedArgument {
  buffer @0 :Int32;
  type @1 :ParameterType;
  bits @2 :Data;
}

struct ResolvedLaunch {
  kernel @0 :Int32;
  grid @1 :List(UInt32);
  block @2 :List(UInt32);
  cluster @3 :List(UInt32);
  sharedBytes @4 :UInt32;
  arguments @5 :List(ResolvedArgument);
}

struct ResolvedPlan {
  buffers @0 :List(BufferSpec);
  launches @1 :List(ResolvedLaunch);
}

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
  baseline @1 :Text;
  deviceKind @2 :DeviceKind;
  clockMode @3 :ClockMode;
  validity @4 :Validity;
  candidateUs @5 :Float64;
  baselineUs @6 :Float64;
  speedup @7 :Float64;
  speedupLow @8 :Float64;
  speedupHigh @9 :Float64;
  confidence @10 :Float64;
  noise @11 :Float64;
  comparison @12 :Comparison;
  floorUs @13 :Float64;
  belowFloor @14 :Bool;
  warmCandidateUs @15 :Float64;
  smClockMhz @16 :Float64;
  candidateBlockUs @17 :List(Float64);
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
  profile @7;
}

enum ViolationKind {
  inputModified @0;
  outOfBounds @1;
  uneven @2;
  timeForged @3;
  implausible @4;
  disturbs @5;
}

enum InfrastructureKind {
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

enum Depth {
  verify @0;
  screen @1;
  measure @2;
  confirm @3;
}

struct WrongOutputReport {
  output @0 :Text;
  failedCase @1 :Case;
  reason @2 :Text;
  wrongElements @3 :UInt64;
  elements @4 :UInt64;
  firstIndex @5 :List(Int64);
  expected @6 :Float64;
  got @7 :Float64;
  worstIndex @8 :List(Int64);
  worstExpected @9 :Float64;
  worstGot @10 :Float64;
  maxAbsError @11 :Float64;
  maxRelError @12 :Float64;
  rmsError @13 :Float64;
  pattern @14 :Text;
}

struct Rejected {
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
  stage @0 :Stage;
}

struct DeviceFault {
  code @0 :Text;
}

struct Violation {
  kind @0 :ViolationKind;
  detail @1 :Text;
}

struct Correct {
  measurements @0 :List(Measurement);
  speedup @1 :Float64;
}

struct Infrastructure {
  kind @0 :InfrastructureKind;
  detail @1 :Text;
}

struct StageTime {
  stage @0 :Stage;
  ms @1 :Float64;
}

struct Evaluation {
  candidateHash @0 :Text;
  task @1 :Text;
  outcome @2 :Outcome;
  device @3 :DeviceFacts;
  depth @4 :Depth;
  stages @5 :List(StageTime);
  kernels @6 :List(KernelInfo);
  log @7 :Text;
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

enum RewardKind {
  milestone @0;
  hybrid @1;
  speedup @2;
}

struct PolicyVersion {
  incarnation @0 :UInt64;
  step @1 :UInt64;
}

struct Action {
  ids @0 :List(Int32);
  logProbs @1 :List(Float32);
  mask @2 :Data;
  version @3 :PolicyVersion;
  text @4 :Text;
}

struct Turn {
  action @0 :Action;
  evaluation @1 :Evaluation;
  reward @2 :Float64;
}

struct TrajectoryId {
  run @0 :UInt64;
  group @1 :UInt64;
  episode @2 :UInt32;
}

struct Trajectory {
  id @0 :TrajectoryId;
  task @1 :Text;
  turns @2 :List(Turn);
  device @3 :DeviceFacts;
  finishedAtMs @4 :Int64;
}

enum RunState {
  running @0;
  finishing @1;
  complete @2;
  cancelled @3;
  failed @4;
}

struct Algorithm {
  advantage @0 :Text;
  turns @1 :Int32;
  group @2 :Int32;
  batchEpisodes @3 :Int32;
  staleness @4 :Int32;
  learningRate @5 :Float64;
  epochs @6 :Int32;
  clipLow @7 :Float64;
  clipHigh @8 :Float64;
  importanceCap @9 :Float64;
  entropy @10 :Float64;
}

struct RunSpec {
  name @0 :Text;
  suites @1 :List(Suite);
  policy @2 :Text;
  algorithm @3 :Algorithm;
  reward @4 :RewardKind;
  budgetEvaluations @5 :Int64;
  device @6 :Text;
  seed @7 :UInt64;
}

struct RolloutJob {
  run @0 :UInt64;
  group @1 :UInt64;
  task @2 :Task;
  policy @3 :Text;
  episodes @4 :List(UInt32);
  turns @5 :Int32;
  reward @6 :RewardKind;
  seed @7 :UInt64;
  minVersion @8 :PolicyVersion;
  depth @9 :Depth;
}

struct EvaluationJob {
  task @0 :Task;
  candidates @1 :List(Text);
  depth @2 :Depth;
}

struct Fence {
  epoch @0 :UInt64;
  attempt @1 :UInt32;
}

struct JobBody {
  union {
    rolloutJob @0 :RolloutJob;
    evaluationJob @1 :EvaluationJob;
  }
}
