// How the worker's conversation travels: each record's fields beside their names in
// schema/worker.capnp.
#pragma once

#include "common/model/worker_protocol.h"
#include "common/wire/model_records.h"

namespace warpsmith::wire_io {

WIRE_RECORD(HeldLease, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.device_index, DeviceIndex);
}

WIRE_RECORD(RegisterWorker, r) {
  FIELD(r.protocol_version, ProtocolVersion);
  FIELD(r.name, Name);
  FIELD(r.devices, Devices);
  FIELD(r.policies, Policies);
  FIELD(r.capacity, Capacity);
  FIELD(r.held, Held);
}

WIRE_RECORD(Heartbeat, r) {}

WIRE_RECORD(Progress, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.evaluations, Evaluations);
}

WIRE_RECORD(TrajectoryResult, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.trajectory, Trajectory);
}

WIRE_RECORD(EvaluationResult, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.index, Index);
  FIELD(r.evaluation, Evaluation);
}

WIRE_RECORD(JobFailed, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.kind, Kind);
  FIELD(r.detail, Detail);
  FIELD(r.policy_refuses, PolicyRefuses);
}

WIRE_RECORD(WeightsInUse, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
}

WIRE_RECORD(WeightsRefused, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.why, Why);
}

WIRE_RECORD(Leaving, r) {}

WIRE_RECORD(WelcomeWorker, r) {
  FIELD(r.epoch, Epoch);
  FIELD(r.heartbeat, Heartbeat);
  FIELD(r.lease, Lease);
  FIELD(r.adopted, Adopted);
}

WIRE_RECORD(Refused, r) { FIELD(r.why, Why); }

WIRE_RECORD(Unknown, r) {}

WIRE_RECORD(AssignJob, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
  FIELD(r.device_index, DeviceIndex);
  FIELD(r.lease, Lease);
  FIELD(r.total_deadline, TotalDeadline);
  FIELD(r.body, Body);
}

WIRE_RECORD(AckTrajectory, r) { FIELD(r.id, Id); }

WIRE_RECORD(AckEvaluation, r) {
  FIELD(r.job, Job);
  FIELD(r.index, Index);
}

WIRE_RECORD(CancelJob, r) {
  FIELD(r.job, Job);
  FIELD(r.fence, Fence);
}

WIRE_RECORD(WeightsAnnouncement, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.endpoint, Endpoint);
  FIELD(r.size_bytes, SizeBytes);
  FIELD(r.chunk_bytes, ChunkBytes);
  FIELD(r.sha256, Sha256);
}

WIRE_RECORD(HeartbeatReply, r) { FIELD(r.epoch, Epoch); }

WIRE_UNION(WorkerMessage, r) {
  ALTERNATIVE(RegisterWorker);
  ALTERNATIVE(Heartbeat);
  ALTERNATIVE(Progress);
  ALTERNATIVE(TrajectoryResult);
  ALTERNATIVE(EvaluationResult);
  ALTERNATIVE(JobFailed);
  ALTERNATIVE(WeightsInUse);
  ALTERNATIVE(WeightsRefused);
  ALTERNATIVE(Leaving);
}

WIRE_UNION(CoordinatorToWorker, r) {
  ALTERNATIVE(WelcomeWorker);
  ALTERNATIVE(Refused);
  ALTERNATIVE(Unknown);
  ALTERNATIVE(AssignJob);
  ALTERNATIVE(AckTrajectory);
  ALTERNATIVE(AckEvaluation);
  ALTERNATIVE(CancelJob);
  ALTERNATIVE(WeightsAnnouncement);
  ALTERNATIVE(HeartbeatReply);
}

}  // namespace warpsmith::wire_io
