// How the client's conversation travels: each record's fields beside their names in
// schema/client.capnp.
#pragma once

#include "common/model/client_protocol.h"
#include "common/wire/learner_records.h"

namespace warpsmith::wire_io {

WIRE_RECORD(SubmitRun, r) {
  FIELD(r.key, Key);
  FIELD(r.spec, Spec);
}

WIRE_RECORD(SubmitEvaluation, r) {
  FIELD(r.key, Key);
  FIELD(r.job, Job);
  FIELD(r.device, Device);
}

WIRE_RECORD(CancelRun, r) { FIELD(r.run, Run); }

WIRE_RECORD(GetCluster, r) {}

WIRE_RECORD(GetRun, r) { FIELD(r.run, Run); }

WIRE_RECORD(GetJob, r) { FIELD(r.job, Job); }

WIRE_RECORD(GetBest, r) { FIELD(r.run, Run); }

WIRE_RECORD(GetHistory, r) { FIELD(r.run, Run); }

WIRE_RECORD(RunAccepted, r) { FIELD(r.run, Run); }

WIRE_RECORD(JobAccepted, r) { FIELD(r.job, Job); }

WIRE_RECORD(RunStatus, r) {
  FIELD(r.run, Run);
  FIELD(r.name, Name);
  FIELD(r.policy, Policy);
  FIELD(r.state, State);
  FIELD(r.device, Device);
  FIELD(r.budget_evaluations, BudgetEvaluations);
  FIELD(r.admitted_evaluations, AdmittedEvaluations);
  FIELD(r.finished_evaluations, FinishedEvaluations);
  FIELD(r.correct_evaluations, CorrectEvaluations);
  FIELD(r.infrastructure_evaluations, InfrastructureEvaluations);
  FIELD(r.trajectories_accepted, TrajectoriesAccepted);
  FIELD(r.trajectories_consumed, TrajectoriesConsumed);
  FIELD(r.trajectories_trained, TrajectoriesTrained);
  FIELD(r.trajectories_stale, TrajectoriesStale);
  FIELD(r.jobs_queued, JobsQueued);
  FIELD(r.jobs_leased, JobsLeased);
  FIELD(r.version, Version);
  FIELD(r.best_speedup, BestSpeedup);
  FIELD(r.best_task, BestTask);
  FIELD(r.started_at_ms, StartedAtMs);
  FIELD(r.ended_at_ms, EndedAtMs);
  FIELD(r.problem, Problem);
}

WIRE_RECORD(WorkerStatus, r) {
  FIELD(r.id, Id);
  FIELD(r.name, Name);
  FIELD(r.state, State);
  FIELD(r.devices, Devices);
  FIELD(r.jobs_leased, JobsLeased);
  FIELD(r.results, Results);
  FIELD(r.silent_s, SilentS);
}

WIRE_RECORD(ClusterStatus, r) {
  FIELD(r.epoch, Epoch);
  FIELD(r.runs, Runs);
  FIELD(r.workers, Workers);
  FIELD(r.learner_alive, LearnerAlive);
  FIELD(r.redis_alive, RedisAlive);
  FIELD(r.jobs_submitted, JobsSubmitted);
  FIELD(r.jobs_queued, JobsQueued);
  FIELD(r.jobs_leased, JobsLeased);
  FIELD(r.jobs_finished, JobsFinished);
  FIELD(r.jobs_cancelled, JobsCancelled);
  FIELD(r.conservation_error, ConservationError);
  FIELD(r.problem, Problem);
}

WIRE_RECORD(JobStatus, r) {
  FIELD(r.job, Job);
  FIELD(r.state, State);
  FIELD(r.results, Results);
  FIELD(r.problem, Problem);
}

WIRE_RECORD(OutcomeCount, r) {
  FIELD(r.outcome, Outcome);
  FIELD(r.count, Count);
}

WIRE_RECORD(BestRow, r) {
  FIELD(r.task, Task);
  FIELD(r.outcomes, Outcomes);
  FIELD(r.candidate, Candidate);
  FIELD(r.evaluation, Evaluation);
}

WIRE_RECORD(BestTable, r) {
  FIELD(r.run, Run);
  FIELD(r.rows, Rows);
}

WIRE_RECORD(EvaluationPoint, r) {
  FIELD(r.task, Task);
  FIELD(r.outcome, Outcome);
  FIELD(r.speedup, Speedup);
  FIELD(r.reward, Reward);
  FIELD(r.step, Step);
  FIELD(r.turn, Turn);
}

WIRE_RECORD(History, r) {
  FIELD(r.status, Status);
  FIELD(r.evaluations, Evaluations);
  FIELD(r.steps, Steps);
}

WIRE_RECORD(RequestFailed, r) {
  FIELD(r.code, Code);
  FIELD(r.why, Why);
}

WIRE_UNION(ClientRequest, r) {
  ALTERNATIVE(SubmitRun);
  ALTERNATIVE(SubmitEvaluation);
  ALTERNATIVE(CancelRun);
  ALTERNATIVE(GetCluster);
  ALTERNATIVE(GetRun);
  ALTERNATIVE(GetJob);
  ALTERNATIVE(GetBest);
  ALTERNATIVE(GetHistory);
}

WIRE_UNION(ClientReply, r) {
  ALTERNATIVE(RunAccepted);
  ALTERNATIVE(JobAccepted);
  ALTERNATIVE(RunStatus);
  ALTERNATIVE(ClusterStatus);
  ALTERNATIVE(JobStatus);
  ALTERNATIVE(BestTable);
  ALTERNATIVE(History);
  ALTERNATIVE(RequestFailed);
}

}  // namespace warpsmith::wire_io
