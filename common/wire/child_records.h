// How the children's conversations travel: each record's fields beside their names in
// schema/child.capnp.
#pragma once

#include "common/model/child_protocol.h"
#include "common/wire/model_records.h"

namespace warpsmith::wire_io {

WIRE_ENUM(Access, kReadWrite)

WIRE_RECORD(CompileRequest, r) {
  FIELD(r.id, Id);
  FIELD(r.text, Text);
  FIELD(r.device_kind, DeviceKind);
  FIELD(r.architecture, Architecture);
}

using CompileResult = decltype(CompileReply::result);
WIRE_UNION(CompileResult, r) {
  ALTERNATIVE(CompiledCandidate);
  ALTERNATIVE(Outcome);
}

WIRE_RECORD(CompileReply, r) {
  FIELD(r.id, Id);
  FIELD(r.result, Result);
  FIELD(r.ms, Ms);
}

WIRE_RECORD(EvaluateRequest, r) {
  FIELD(r.id, Id);
  FIELD(r.task, Task);
  FIELD(r.compiled, Compiled);
  FIELD(r.depth, Depth);
}

WIRE_RECORD(RunnerAttached, r) { FIELD(r.runner, Runner); }

WIRE_RECORD(OracleReady, r) { FIELD(r.device, Device); }

WIRE_RECORD(StageBegan, r) {
  FIELD(r.id, Id);
  FIELD(r.stage, Stage);
  FIELD(r.runner, Runner);
  FIELD(r.limit, Limit);
}

WIRE_RECORD(StageEnded, r) { FIELD(r.id, Id); }

WIRE_RECORD(DiscardRunner, r) {
  FIELD(r.runner, Runner);
  FIELD(r.why, Why);
}

WIRE_RECORD(EvaluateReply, r) {
  FIELD(r.id, Id);
  FIELD(r.outcome, Outcome);
  FIELD(r.stages, Stages);
  FIELD(r.log, Log);
}

WIRE_RECORD(OracleFailed, r) {
  FIELD(r.kind, Kind);
  FIELD(r.why, Why);
}

WIRE_RECORD(BufferHandle, r) {
  FIELD(r.mapping_bytes, MappingBytes);
  FIELD(r.offset, Offset);
  FIELD(r.size, Size);
  FIELD(r.access, Access);
}

WIRE_RECORD(LoadModule, r) {
  FIELD(r.binary, Binary);
  FIELD(r.kernels, Kernels);
  FIELD(r.plan, Plan);
}

WIRE_RECORD(BindBuffers, r) {
  FIELD(r.set, Set);
  FIELD(r.buffers, Buffers);
}

WIRE_RECORD(RunPlan, r) {
  FIELD(r.sets, Sets);
  FIELD(r.timed, Timed);
  FIELD(r.dirty_shared, DirtyShared);
}

WIRE_RECORD(RunnerReady, r) {}

WIRE_RECORD(Done, r) {
  FIELD(r.run_us, RunUs);
  FIELD(r.sm_clock_mhz, SmClockMhz);
  FIELD(r.output, Output);
}

WIRE_RECORD(Failed, r) {
  FIELD(r.outcome, Outcome);
  FIELD(r.output, Output);
}

WIRE_RECORD(Episode, r) {
  FIELD(r.seed, Seed);
  FIELD(r.turns, Turns);
}

WIRE_RECORD(ActRequest, r) {
  FIELD(r.id, Id);
  FIELD(r.run, Run);
  FIELD(r.policy, Policy);
  FIELD(r.task, Task);
  FIELD(r.device, Device);
  FIELD(r.episodes, Episodes);
}

WIRE_RECORD(LoadWeights, r) {
  FIELD(r.id, Id);
  FIELD(r.run, Run);
  FIELD(r.policy, Policy);
  FIELD(r.version, Version);
  FIELD(r.path, Path);
}

WIRE_RECORD(ActReply, r) {
  FIELD(r.id, Id);
  FIELD(r.actions, Actions);
  FIELD(r.problem, Problem);
}

WIRE_RECORD(WeightsLoaded, r) {
  FIELD(r.id, Id);
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.problem, Problem);
}

WIRE_UNION(ToOracle, r) {
  ALTERNATIVE(EvaluateRequest);
  ALTERNATIVE(RunnerAttached);
}

WIRE_UNION(FromOracle, r) {
  ALTERNATIVE(OracleReady);
  ALTERNATIVE(StageBegan);
  ALTERNATIVE(StageEnded);
  ALTERNATIVE(DiscardRunner);
  ALTERNATIVE(EvaluateReply);
  ALTERNATIVE(OracleFailed);
}

WIRE_UNION(ToRunner, r) {
  ALTERNATIVE(LoadModule);
  ALTERNATIVE(BindBuffers);
  ALTERNATIVE(RunPlan);
}

WIRE_UNION(FromRunner, r) {
  ALTERNATIVE(RunnerReady);
  ALTERNATIVE(Done);
  ALTERNATIVE(Failed);
}

WIRE_UNION(ToPolicy, r) {
  ALTERNATIVE(ActRequest);
  ALTERNATIVE(LoadWeights);
}

WIRE_UNION(FromPolicy, r) {
  ALTERNATIVE(ActReply);
  ALTERNATIVE(WeightsLoaded);
}

}  // namespace warpsmith::wire_io
