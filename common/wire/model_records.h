// How the records of common/model travel: each record's fields beside their names in
// schema/model.capnp.
#pragma once

#include "common/model/run.h"
#include "common/model/trajectory.h"
#include "common/wire/fields.h"

namespace warpsmith::wire_io {

WIRE_ENUM(Dtype, kBool)
WIRE_ENUM(DeviceKind, kSimulated)
WIRE_ENUM(ClockMode, kObserved)

WIRE_RECORD(DeviceFacts, r) {
  FIELD(r.kind, Kind);
  FIELD(r.index, Index);
  FIELD(r.name, Name);
  FIELD(r.uuid, Uuid);
  FIELD(r.architecture, Architecture);
  FIELD(r.sm_count, SmCount);
  FIELD(r.warp_size, WarpSize);
  FIELD(r.max_threads_per_block, MaxThreadsPerBlock);
  FIELD(r.max_shared_bytes, MaxSharedBytes);
  FIELD(r.reserved_shared_bytes, ReservedSharedBytes);
  FIELD(r.memory_bytes, MemoryBytes);
  FIELD(r.l2_bytes, L2Bytes);
  FIELD(r.peak_bandwidth_bytes_per_s, PeakBandwidthBytesPerS);
  FIELD(r.peak_flops_per_s, PeakFlopsPerS);
  FIELD(r.clock_mode, ClockMode);
  FIELD(r.driver, Driver);
  FIELD(r.toolkit, Toolkit);
}

WIRE_ENUM(InitKind, kConstant)
WIRE_ENUM(CompareKind, kUlp)
WIRE_ENUM(CaseRole, kEdge)

WIRE_RECORD(Init, r) {
  FIELD(r.kind, Kind);
  FIELD(r.scale, Scale);
  FIELD(r.low, Low);
  FIELD(r.high, High);
  FIELD(r.value, Value);
  FIELD(r.bound, Bound);
}

WIRE_RECORD(InputSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.dtype, Dtype);
  FIELD(r.shape, Shape);
  FIELD(r.init, Init);
}

WIRE_RECORD(ScalarSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.dtype, Dtype);
  FIELD(r.value, Value);
  FIELD(r.expression, Expression);
}

WIRE_RECORD(OutputSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.dtype, Dtype);
  FIELD(r.shape, Shape);
  FIELD(r.rtol, Rtol);
  FIELD(r.atol, Atol);
  FIELD(r.compare, Compare);
  FIELD(r.ulps, Ulps);
  FIELD(r.index_into, IndexInto);
  FIELD(r.order_free, OrderFree);
  FIELD(r.equal_nan, EqualNan);
}

WIRE_RECORD(Work, r) {
  FIELD(r.flops, Flops);
  FIELD(r.read_bytes, ReadBytes);
  FIELD(r.write_bytes, WriteBytes);
}

using NamedText = std::pair<std::string, std::string>;
WIRE_RECORD(NamedText, r) {
  FIELD(r.first, Name);
  FIELD(r.second, Text);
}

using NamedSize = std::pair<std::string, int64_t>;
WIRE_RECORD(NamedSize, r) {
  FIELD(r.first, Name);
  FIELD(r.second, Size);
}

WIRE_RECORD(Case, r) {
  FIELD(r.role, Role);
  FIELD(r.dims, Dims);
}

WIRE_RECORD(Task, r) {
  FIELD(r.id, Id);
  FIELD(r.inputs, Inputs);
  FIELD(r.scalars, Scalars);
  FIELD(r.outputs, Outputs);
  FIELD(r.reference, Reference);
  FIELD(r.reference64, Reference64);
  FIELD(r.work, Work);
  FIELD(r.cuda_cases, CudaCases);
  FIELD(r.host_cases, HostCases);
  FIELD(r.starter, Starter);
}

WIRE_RECORD(Suite, r) {
  FIELD(r.name, Name);
  FIELD(r.tasks, Tasks);
}

WIRE_ENUM(ParameterType, kUnsupported)
WIRE_ENUM(BufferRole, kTemp)

WIRE_RECORD(LaunchSpec, r) {
  FIELD(r.kernel, Kernel);
  FIELD(r.grid, Grid);
  FIELD(r.block, Block);
  FIELD(r.shared, Shared);
  FIELD(r.cluster, Cluster);
  FIELD(r.args, Args);
}

WIRE_RECORD(TempSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.dtype, Dtype);
  FIELD(r.shape, Shape);
}

WIRE_RECORD(Plan, r) {
  FIELD(r.let, Let);
  FIELD(r.launches, Launches);
  FIELD(r.temps, Temps);
  FIELD(r.zero, Zero);
}

WIRE_RECORD(KernelInfo, r) {
  FIELD(r.name, Name);
  FIELD(r.symbol, Symbol);
  FIELD(r.parameters, Parameters);
  FIELD(r.registers, Registers);
  FIELD(r.spill_bytes, SpillBytes);
  FIELD(r.static_shared_bytes, StaticSharedBytes);
  FIELD(r.local_bytes, LocalBytes);
  FIELD(r.max_threads_per_block, MaxThreadsPerBlock);
}

WIRE_RECORD(CompiledCandidate, r) {
  FIELD(r.device_kind, DeviceKind);
  FIELD(r.architecture, Architecture);
  FIELD(r.plan, Plan);
  FIELD(r.kernels, Kernels);
  FIELD(r.binary, Binary);
  FIELD(r.log, Log);
}

WIRE_RECORD(BufferSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.role, Role);
  FIELD(r.dtype, Dtype);
  FIELD(r.shape, Shape);
  FIELD(r.zero, Zero);
}

WIRE_RECORD(ResolvedArgument, r) {
  FIELD(r.buffer, Buffer);
  FIELD(r.type, Type);
  FIELD(r.bits, Bits);
}

WIRE_RECORD(ResolvedLaunch, r) {
  FIELD(r.kernel, Kernel);
  FIELD(r.grid, Grid);
  FIELD(r.block, Block);
  FIELD(r.cluster, Cluster);
  FIELD(r.shared_bytes, SharedBytes);
  FIELD(r.arguments, Arguments);
}

WIRE_RECORD(ResolvedPlan, r) {
  FIELD(r.buffers, Buffers);
  FIELD(r.launches, Launches);
}

WIRE_ENUM(Validity, kClocksUnverified)
WIRE_ENUM(Comparison, kTie)

WIRE_RECORD(Measurement, r) {
  FIELD(r.timed_case, TimedCase);
  FIELD(r.baseline, Baseline);
  FIELD(r.device_kind, DeviceKind);
  FIELD(r.clock_mode, ClockMode);
  FIELD(r.validity, Validity);
  FIELD(r.candidate_us, CandidateUs);
  FIELD(r.baseline_us, BaselineUs);
  FIELD(r.speedup, Speedup);
  FIELD(r.speedup_low, SpeedupLow);
  FIELD(r.speedup_high, SpeedupHigh);
  FIELD(r.confidence, Confidence);
  FIELD(r.noise, Noise);
  FIELD(r.comparison, Comparison);
  FIELD(r.floor_us, FloorUs);
  FIELD(r.below_floor, BelowFloor);
  FIELD(r.warm_candidate_us, WarmCandidateUs);
  FIELD(r.sm_clock_mhz, SmClockMhz);
  FIELD(r.candidate_block_us, CandidateBlockUs);
  FIELD(r.baseline_block_us, BaselineBlockUs);
}

WIRE_ENUM(Stage, kProfile)
WIRE_ENUM(ViolationKind, kDisturbs)
WIRE_ENUM(InfrastructureKind, kInternal)
WIRE_ENUM(Depth, kConfirm)

WIRE_RECORD(WrongOutputReport, r) {
  FIELD(r.output, Output);
  FIELD(r.failed_case, FailedCase);
  FIELD(r.reason, Reason);
  FIELD(r.wrong_elements, WrongElements);
  FIELD(r.elements, Elements);
  FIELD(r.first_index, FirstIndex);
  FIELD(r.expected, Expected);
  FIELD(r.got, Got);
  FIELD(r.worst_index, WorstIndex);
  FIELD(r.worst_expected, WorstExpected);
  FIELD(r.worst_got, WorstGot);
  FIELD(r.max_abs_error, MaxAbsError);
  FIELD(r.max_rel_error, MaxRelError);
  FIELD(r.rms_error, RmsError);
  FIELD(r.pattern, Pattern);
}

WIRE_RECORD(Rejected, r) { FIELD(r.why, Why); }

WIRE_RECORD(CompileError, r) { FIELD(r.log, Log); }

WIRE_RECORD(ResourceError, r) { FIELD(r.limit, Limit); }

WIRE_RECORD(LaunchError, r) { FIELD(r.code, Code); }

WIRE_RECORD(WrongOutput, r) { FIELD(r.report, Report); }

WIRE_RECORD(Nondeterministic, r) { FIELD(r.output, Output); }

WIRE_RECORD(Timeout, r) { FIELD(r.stage, Stage); }

WIRE_RECORD(DeviceFault, r) { FIELD(r.code, Code); }

WIRE_RECORD(Violation, r) {
  FIELD(r.kind, Kind);
  FIELD(r.detail, Detail);
}

WIRE_RECORD(Correct, r) {
  FIELD(r.measurements, Measurements);
  FIELD(r.speedup, Speedup);
}

WIRE_RECORD(Infrastructure, r) {
  FIELD(r.kind, Kind);
  FIELD(r.detail, Detail);
}

WIRE_RECORD(StageTime, r) {
  FIELD(r.stage, Stage);
  FIELD(r.ms, Ms);
}

WIRE_RECORD(Evaluation, r) {
  FIELD(r.candidate_hash, CandidateHash);
  FIELD(r.task, Task);
  FIELD(r.outcome, Outcome);
  FIELD(r.device, Device);
  FIELD(r.depth, Depth);
  FIELD(r.stages, Stages);
  FIELD(r.kernels, Kernels);
  FIELD(r.log, Log);
}

WIRE_UNION(Outcome, r) {
  ALTERNATIVE(Rejected);
  ALTERNATIVE(CompileError);
  ALTERNATIVE(ResourceError);
  ALTERNATIVE(LaunchError);
  ALTERNATIVE(WrongOutput);
  ALTERNATIVE(Nondeterministic);
  ALTERNATIVE(Timeout);
  ALTERNATIVE(DeviceFault);
  ALTERNATIVE(Violation);
  ALTERNATIVE(Correct);
  ALTERNATIVE(Infrastructure);
}

WIRE_ENUM(RewardKind, kSpeedup)

WIRE_RECORD(PolicyVersion, r) {
  FIELD(r.incarnation, Incarnation);
  FIELD(r.step, Step);
}

WIRE_RECORD(Action, r) {
  FIELD(r.ids, Ids);
  FIELD(r.log_probs, LogProbs);
  FIELD(r.mask, Mask);
  FIELD(r.version, Version);
  FIELD(r.text, Text);
}

WIRE_RECORD(Turn, r) {
  FIELD(r.action, Action);
  FIELD(r.evaluation, Evaluation);
  FIELD(r.reward, Reward);
}

WIRE_RECORD(TrajectoryId, r) {
  FIELD(r.run, Run);
  FIELD(r.group, Group);
  FIELD(r.episode, Episode);
}

WIRE_RECORD(Trajectory, r) {
  FIELD(r.id, Id);
  FIELD(r.task, Task);
  FIELD(r.turns, Turns);
  FIELD(r.device, Device);
  FIELD(r.finished_at_ms, FinishedAtMs);
}

WIRE_ENUM(RunState, kFailed)

WIRE_RECORD(Algorithm, r) {
  FIELD(r.advantage, Advantage);
  FIELD(r.turns, Turns);
  FIELD(r.group, Group);
  FIELD(r.batch_episodes, BatchEpisodes);
  FIELD(r.staleness, Staleness);
  FIELD(r.learning_rate, LearningRate);
  FIELD(r.epochs, Epochs);
  FIELD(r.clip_low, ClipLow);
  FIELD(r.clip_high, ClipHigh);
  FIELD(r.importance_cap, ImportanceCap);
  FIELD(r.entropy, Entropy);
}

WIRE_RECORD(RunSpec, r) {
  FIELD(r.name, Name);
  FIELD(r.suites, Suites);
  FIELD(r.policy, Policy);
  FIELD(r.algorithm, Algorithm);
  FIELD(r.reward, Reward);
  FIELD(r.budget_evaluations, BudgetEvaluations);
  FIELD(r.device, Device);
  FIELD(r.seed, Seed);
}

WIRE_RECORD(RolloutJob, r) {
  FIELD(r.run, Run);
  FIELD(r.group, Group);
  FIELD(r.task, Task);
  FIELD(r.policy, Policy);
  FIELD(r.episodes, Episodes);
  FIELD(r.turns, Turns);
  FIELD(r.reward, Reward);
  FIELD(r.seed, Seed);
  FIELD(r.min_version, MinVersion);
  FIELD(r.depth, Depth);
}

WIRE_RECORD(EvaluationJob, r) {
  FIELD(r.task, Task);
  FIELD(r.candidates, Candidates);
  FIELD(r.depth, Depth);
}

WIRE_RECORD(Fence, r) {
  FIELD(r.epoch, Epoch);
  FIELD(r.attempt, Attempt);
}

WIRE_UNION(JobBody, r) {
  ALTERNATIVE(RolloutJob);
  ALTERNATIVE(EvaluationJob);
}

}  // namespace warpsmith::wire_io
