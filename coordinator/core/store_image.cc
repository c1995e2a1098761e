#include "coordinator/core/store_image.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/model/reward.h"

namespace warpsmith {

void StoreImage::Apply(const std::vector<Record>& records) {
  for (const Record& record : records) std::visit([&](const auto& what) { On(what); }, record);
}

void StoreImage::On(const RunAdded& record) {
  StoredRun& run = runs_[record.run];
  CHECK(run.added.run == RunId{}, "a run is added once");
  run.added = record;
  run.changed.run = record.run;
}

void StoreImage::On(const RunChanged& record) { runs_.at(record.run).changed = record; }

void StoreImage::On(const JobAdded& record) {
  CHECK(!jobs_.contains(record.job), "a job is added once");
  StoredJob& job = jobs_[record.job];
  job.added = record;
  job.changed.job = record.job;
}

void StoreImage::On(const JobChanged& record) {
  StoredJob& job = jobs_.at(record.job);
  if (const auto* rollout = std::get_if<RolloutPlan>(&job.added.plan))
    runs_.at(rollout->run).masked += record.masked_evaluations - job.changed.masked_evaluations;
  job.changed = record;
}

void StoreImage::On(const TrajectoryAccepted& record) {
  const TrajectoryId& id = record.trajectory.id;
  StoredRun& run = runs_.at(id.run);
  CHECK(run.trajectories.emplace(id, record).second, "the first accepted result wins");
  run.order.push_back(id);
  if (!record.publish_seq) return;
  CHECK(*record.publish_seq == run.stream.size(), "a stream has no gap");
  run.stream.push_back(id);
  LedgerEntry entry;
  entry.group = id.group;
  entry.oldest = OldestVersion(record.trajectory);
  entry.rewarded = AnyTurnRewarded(record.trajectory);
  run.ledger.push_back(entry);
}

void StoreImage::On(const EvaluationAccepted& record) {
  CHECK(jobs_.at(record.job).evaluations.emplace(record.index, record.evaluation).second,
        "the first accepted result wins");
}

void StoreImage::On(const LearnerRegistered& record) { learners_.push_back(record); }

void StoreImage::On(const LearnerTookOver& record) {
  for (LearnerRegistered& learner : learners_)
    if (learner.incarnation == record.incarnation) learner.took_over = true;
}

void StoreImage::On(const LineForked& record) { runs_.at(record.run).forks.push_back(record); }

void StoreImage::On(const CheckpointRecorded& record) {
  runs_.at(record.checkpoint.run).checkpoints.emplace(record.checkpoint.version, record.checkpoint);
}

void StoreImage::On(const TrajectoryConsumed& record) {
  LedgerEntry& entry = runs_.at(record.run).ledger.at(record.publish_seq);
  entry.consumed = true;
  entry.fate = record.fate;
  entry.by = record.by;
}

void StoreImage::On(const ConsumptionUndone& record) {
  LedgerEntry& entry = runs_.at(record.run).ledger.at(record.publish_seq);
  entry.consumed = false;
  entry.fate.reset();
  entry.by = {};
}

Snapshot StoreImage::BeginEpoch() {
  Snapshot snapshot;
  snapshot.epoch = ++epoch_;
  snapshot.cluster = cluster_;
  snapshot.learners = learners_;
  for (const auto& [id, run] : runs_) {
    RunSnapshot row{run.added, run.changed, {}, run.ledger, run.forks, {}};
    for (const TrajectoryId& trajectory : run.order) {
      const Trajectory& stored = run.trajectories.at(trajectory).trajectory;
      for (const Turn& turn : stored.turns)
        CountTurn(row.counters, stored.task, turn.evaluation.outcome);
    }
    row.counters.trajectories = static_cast<int64_t>(run.order.size());
    row.counters.masked_evaluations = run.masked;
    for (const auto& [version, checkpoint] : run.checkpoints) row.checkpoints.push_back(version);
    snapshot.runs.push_back(std::move(row));
  }
  for (const auto& [id, job] : jobs_) {
    snapshot.last_job = id.value();
    ++snapshot.counts.submitted;
    if (const auto* evaluation = std::get_if<EvaluationPlan>(&job.added.plan))
      snapshot.evaluation_keys[evaluation->key] = id;
    switch (job.changed.state) {
      case JobState::kQueued: ++snapshot.counts.queued; break;
      case JobState::kLeased: ++snapshot.counts.leased; break;
      case JobState::kFinished: ++snapshot.counts.finished; continue;
      case JobState::kCancelled: ++snapshot.counts.cancelled; continue;
    }
    JobSnapshot row{job.added, job.changed, {}};
    if (const auto* rollout = std::get_if<RolloutPlan>(&job.added.plan)) {
      const auto& trajectories = runs_.at(rollout->run).trajectories;
      for (uint32_t episode = 0; episode < rollout->episodes; ++episode)
        if (trajectories.contains({rollout->run, rollout->group, episode}))
          row.done.push_back(episode);
    }
    for (const auto& [index, evaluation] : job.evaluations) row.done.push_back(index);
    snapshot.jobs.push_back(std::move(row));
  }
  return snapshot;
}

std::vector<TrajectoryAccepted> StoreImage::Stream(RunId id, uint64_t from, size_t limit) const {
  std::vector<TrajectoryAccepted> found;
  const auto run = runs_.find(id);
  if (run == runs_.end()) return found;
  for (uint64_t seq = from; seq < run->second.stream.size() && found.size() < limit; ++seq)
    found.push_back(run->second.trajectories.at(run->second.stream[seq]));
  return found;
}

ClientReply StoreImage::Query(const QueryStore& query) const {
  if (std::holds_alternative<GetBest>(query.call.request)) return Best(query);
  if (std::holds_alternative<GetHistory>(query.call.request)) return HistoryOf(query);
  return JobOf(query);
}

ClientReply StoreImage::Best(const QueryStore& query) const {
  BestTable table{query.status.run, {}};
  const StoredRun& run = runs_.at(query.status.run);
  std::map<TaskId, BestRow> rows;
  std::map<TaskId, std::map<std::string, int64_t>> counts;
  for (const TrajectoryId& id : run.order) {
    const Trajectory& trajectory = run.trajectories.at(id).trajectory;
    for (const Turn& turn : trajectory.turns) {
      const Outcome& outcome = turn.evaluation.outcome;
      ++counts[trajectory.task][OutcomeName(outcome)];
      BestRow& row = rows[trajectory.task];
      row.task = trajectory.task;
      if (!IsCorrect(outcome)) continue;
      if (!row.candidate.empty() && SpeedupOf(outcome) <= SpeedupOf(row.evaluation.outcome))
        continue;
      row.candidate = turn.action.text;
      row.evaluation = turn.evaluation;
    }
  }
  for (auto& [task, row] : rows) {
    for (const auto& [outcome, count] : counts[task]) row.outcomes.push_back({outcome, count});
    table.rows.push_back(std::move(row));
  }
  return table;
}

ClientReply StoreImage::HistoryOf(const QueryStore& query) const {
  History history;
  history.status = query.status;
  const StoredRun& run = runs_.at(query.status.run);
  for (const TrajectoryId& id : run.order) {
    const Trajectory& trajectory = run.trajectories.at(id).trajectory;
    for (size_t turn = 0; turn < trajectory.turns.size(); ++turn) {
      const Turn& what = trajectory.turns[turn];
      history.evaluations.push_back({trajectory.task, OutcomeName(what.evaluation.outcome),
                                     SpeedupOf(what.evaluation.outcome), what.reward,
                                     what.action.version.step, static_cast<int32_t>(turn),
                                     what.reward_version});
    }
  }
  for (const auto& [version, checkpoint] : run.checkpoints)
    history.steps.push_back(checkpoint.report);
  return history;
}

ClientReply StoreImage::JobOf(const QueryStore& query) const {
  const JobId id = std::get<GetJob>(query.call.request).job;
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return RequestFailed{ToString(ErrorCode::kNotFound), "no job " + std::to_string(id.value())};
  const StoredJob& job = found->second;
  JobStatus status;
  status.job = id;
  status.state = query.job_state.empty() ? ToString(job.changed.state) : query.job_state;
  status.problem = query.job_state.empty() ? job.changed.problem : query.job_problem;
  if (const auto* plan = std::get_if<EvaluationPlan>(&job.added.plan)) {
    status.results.resize(plan->body.candidates.size());
    for (const auto& [index, evaluation] : job.evaluations) status.results[index] = {evaluation};
  }
  return status;
}

}  // namespace warpsmith
