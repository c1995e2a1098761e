#include "coordinator/shell/sqlite_records.h"

#include "common/base/check.h"
#include "common/model/reward.h"
#include "common/wire/codec.h"

namespace warpsmith {
namespace {

int Number(auto value) { return static_cast<int>(value); }

Status Write(Database& db, const RunAdded& record) {
  const std::string spec = Encode(record.spec);
  return db.Run("INSERT INTO runs VALUES (?, ?, ?, ?, ?, 0, 'auto', 0, 0, 0, '')",
                record.run.value(), record.key, record.spec.name, Blob{spec}, record.started_at_ms);
}

Status Write(Database& db, const RunChanged& record) {
  return db.Run(
      "UPDATE runs SET state = ?, device = ?, admitted_evaluations = ?, next_group = ?, "
      "ended_at_ms = ?, problem = ? WHERE run = ?",
      Number(record.state), record.device, record.admitted_evaluations, record.next_group,
      record.ended_at_ms, record.problem, record.run.value());
}

Status Write(Database& db, const JobAdded& record) {
  if (const auto* rollout = std::get_if<RolloutPlan>(&record.plan)) {
    return db.Run("INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL, 0, 0, 0, 0, '')",
                  record.job.value(), rollout->run.value(), rollout->group.value(),
                  rollout->task.value(), rollout->episodes, rollout->turns);
  }
  const auto& evaluation = std::get<EvaluationPlan>(record.plan);
  const std::string body = Encode(JobBody(evaluation.body));
  return db.Run(
      "INSERT INTO jobs VALUES (?, NULL, NULL, NULL, NULL, NULL, ?, ?, ?, 0, 0, 0, 0, '')",
      record.job.value(), evaluation.key, evaluation.device, Blob{body});
}

Status Write(Database& db, const JobChanged& record) {
  return db.Run(
      "UPDATE jobs SET state = ?, attempt = ?, failures = ?, masked_evaluations = ?, problem = ? "
      "WHERE job = ?",
      Number(record.state), record.attempt, record.failures, record.masked_evaluations,
      record.problem, record.job.value());
}

constexpr const char* kInsertEvaluation =
    "INSERT INTO evaluations (run, publish_seq, job, place, task, outcome, speedup, reward, step, "
    "reward_version, turn, candidate, evaluation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

Status Write(Database& db, const TrajectoryAccepted& record) {
  const Trajectory& trajectory = record.trajectory;
  const PolicyVersion oldest = OldestVersion(trajectory);
  const std::string payload = Encode(trajectory);
  RETURN_IF_ERROR(
      db.Run("INSERT INTO trajectories (run, grp, episode, job, publish_seq, oldest_incarnation, "
             "oldest_step, rewarded, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
             trajectory.id.run.value(), trajectory.id.group.value(), trajectory.id.episode,
             record.job.value(), record.publish_seq, oldest.incarnation, oldest.step,
             AnyTurnRewarded(trajectory), Blob{payload}));
  for (size_t i = 0; i < trajectory.turns.size(); ++i) {
    const Turn& turn = trajectory.turns[i];
    const std::string evaluation = Encode(turn.evaluation);
    RETURN_IF_ERROR(db.Run(kInsertEvaluation, trajectory.id.run.value(), record.publish_seq,
                           record.job.value(), std::nullopt, trajectory.task.value(),
                           OutcomeName(turn.evaluation.outcome), SpeedupOf(turn.evaluation.outcome),
                           turn.reward, turn.action.version.step, turn.reward_version, Number(i),
                           turn.action.text, Blob{evaluation}));
  }
  return {};
}

Status Write(Database& db, const EvaluationAccepted& record) {
  const std::string evaluation = Encode(record.evaluation);
  return db.Run(kInsertEvaluation, std::nullopt, std::nullopt, record.job.value(), record.index,
                record.evaluation.task.value(), OutcomeName(record.evaluation.outcome),
                SpeedupOf(record.evaluation.outcome), 0.0, 0, kRewardVersion, 0, "",
                Blob{evaluation});
}

Status Write(Database& db, const LearnerRegistered& record) {
  return db.Run("INSERT INTO learners VALUES (?, ?, ?)", record.incarnation, record.peer,
                record.took_over);
}

Status Write(Database& db, const LearnerTookOver& record) {
  return db.Run("UPDATE learners SET took_over = 1 WHERE incarnation = ?", record.incarnation);
}

Status Write(Database& db, const LineForked& record) {
  return db.Run("INSERT INTO forks VALUES (?, ?, ?, ?)", record.run.value(), record.incarnation,
                record.from.incarnation, record.from.step);
}

Status Write(Database& db, const CheckpointRecorded& record) {
  const CheckpointDurable& checkpoint = record.checkpoint;
  const std::string payload = Encode(checkpoint);
  return db.Run("INSERT OR IGNORE INTO checkpoints VALUES (?, ?, ?, ?)", checkpoint.run.value(),
                checkpoint.version.incarnation, checkpoint.version.step, Blob{payload});
}

Status Write(Database& db, const TrajectoryConsumed& record) {
  std::optional<int> fate;
  if (record.fate) fate = Number(*record.fate);
  return db.Run(
      "UPDATE trajectories SET consumed = 1, fate = ?, trained_at_incarnation = ?, "
      "trained_at_step = ? WHERE run = ? AND publish_seq = ?",
      fate, record.by.incarnation, record.by.step, record.run.value(), record.publish_seq);
}

Status Write(Database& db, const ConsumptionUndone& record) {
  return db.Run(
      "UPDATE trajectories SET consumed = 0, fate = NULL, trained_at_incarnation = NULL, "
      "trained_at_step = NULL WHERE run = ? AND publish_seq = ?",
      record.run.value(), record.publish_seq);
}

Status ReadLedger(Database& db, RunSnapshot& run) {
  return db.Each(
      "SELECT grp, oldest_incarnation, oldest_step, rewarded, consumed, fate, "
      "trained_at_incarnation, trained_at_step, publish_seq FROM trajectories "
      "WHERE run = ? AND publish_seq IS NOT NULL ORDER BY publish_seq",
      [&](const Row& row) -> Status {
        if (row.Id(8) != run.ledger.size())
          return Fail(ErrorCode::kCorrupt, "the stream of run " +
                                               std::to_string(run.added.run.value()) +
                                               " has a gap: restore the store from a backup");
        LedgerEntry entry;
        entry.group = GroupId(row.Id(0));
        entry.oldest = {row.Id(1), row.Id(2)};
        entry.rewarded = row.Int(3) != 0;
        entry.consumed = row.Int(4) != 0;
        if (!row.Null(5)) entry.fate = static_cast<Fate>(row.Int(5));
        if (entry.consumed) entry.by = {row.Id(6), row.Id(7)};
        run.ledger.push_back(entry);
        return {};
      },
      run.added.run.value());
}

Status ReadCounters(Database& db, RunSnapshot& run) {
  const uint64_t id = run.added.run.value();
  RunCounters& counters = run.counters;
  RETURN_IF_ERROR(db.Each(
      "SELECT outcome, count(*) FROM evaluations WHERE run = ? GROUP BY outcome",
      [&](const Row& row) -> Status {
        const std::string outcome = row.Text(0);
        counters.finished_evaluations += row.Int(1);
        if (outcome == OutcomeName(Correct{})) counters.correct_evaluations = row.Int(1);
        if (outcome == OutcomeName(Infrastructure{}))
          counters.infrastructure_evaluations = row.Int(1);
        return {};
      },
      id));
  RETURN_IF_ERROR(db.Each(
      "SELECT speedup, task FROM evaluations WHERE run = ? AND outcome = 'correct' AND speedup > 0 "
      "ORDER BY speedup DESC, ord LIMIT 1",
      [&](const Row& row) -> Status {
        counters.best_speedup = row.Real(0);
        counters.best_task = TaskId(row.Text(1));
        return {};
      },
      id));
  RETURN_IF_ERROR(db.Each(
      "SELECT count(*) FROM trajectories WHERE run = ?",
      [&](const Row& row) -> Status {
        counters.trajectories = row.Int(0);
        return {};
      },
      id));
  return db.Each(
      "SELECT coalesce(sum(masked_evaluations), 0) FROM jobs WHERE run = ?",
      [&](const Row& row) -> Status {
        counters.masked_evaluations = row.Int(0);
        return {};
      },
      id);
}

Status ReadLine(Database& db, RunSnapshot& run) {
  const uint64_t id = run.added.run.value();
  RETURN_IF_ERROR(db.Each(
      "SELECT incarnation, from_incarnation, from_step FROM forks WHERE run = ? "
      "ORDER BY incarnation",
      [&](const Row& row) -> Status {
        run.forks.push_back({run.added.run, {row.Id(1), row.Id(2)}, row.Id(0)});
        return {};
      },
      id));
  return db.Each(
      "SELECT incarnation, step FROM checkpoints WHERE run = ? ORDER BY incarnation, step",
      [&](const Row& row) -> Status {
        run.checkpoints.push_back({row.Id(0), row.Id(1)});
        return {};
      },
      id);
}

Status ReadRuns(Database& db, Snapshot& snapshot) {
  RETURN_IF_ERROR(db.Each(
      "SELECT run, key, spec, started_at_ms, state, device, admitted_evaluations, next_group, "
      "ended_at_ms, problem FROM runs ORDER BY run",
      [&](const Row& row) -> Status {
        RunSnapshot run;
        const RunId id(row.Id(0));
        ASSIGN_OR_RETURN(RunSpec spec, Decode<RunSpec>(row.Text(2)));
        run.added = {id, row.Text(1), std::move(spec), row.Int(3)};
        run.changed = {id,          static_cast<RunState>(row.Int(4)),
                       row.Text(5), row.Int(6),
                       row.Id(7),   row.Int(8),
                       row.Text(9)};
        snapshot.runs.push_back(std::move(run));
        return {};
      }));
  for (RunSnapshot& run : snapshot.runs) {
    RETURN_IF_ERROR(ReadLedger(db, run));
    RETURN_IF_ERROR(ReadCounters(db, run));
    RETURN_IF_ERROR(ReadLine(db, run));
  }
  return {};
}

Status ReadDone(Database& db, JobSnapshot& job) {
  const auto add = [&](const Row& row) -> Status {
    job.done.push_back(static_cast<uint32_t>(row.Int(0)));
    return {};
  };
  if (const auto* rollout = std::get_if<RolloutPlan>(&job.added.plan)) {
    return db.Each(
        "SELECT episode FROM trajectories WHERE run = ? AND grp = ? AND episode < ? "
        "ORDER BY episode",
        add, rollout->run.value(), rollout->group.value(), rollout->episodes);
  }
  return db.Each("SELECT place FROM evaluations WHERE job = ? AND place IS NOT NULL ORDER BY place",
                 add, job.added.job.value());
}

Status ReadJobs(Database& db, Snapshot& snapshot) {
  RETURN_IF_ERROR(db.Each(
      "SELECT job, run, grp, task, episodes, turns, key, device, body, state, attempt, failures, "
      "masked_evaluations, problem FROM jobs WHERE state < 2 ORDER BY job",
      [&](const Row& row) -> Status {
        JobSnapshot job;
        const JobId id(row.Id(0));
        job.added.job = id;
        if (row.Null(8)) {
          job.added.plan =
              RolloutPlan{RunId(row.Id(1)), GroupId(row.Id(2)), TaskId(row.Text(3)),
                          static_cast<uint32_t>(row.Int(4)), static_cast<int>(row.Int(5))};
        } else {
          ASSIGN_OR_RETURN(JobBody body, Decode<JobBody>(row.Text(8)));
          if (!std::holds_alternative<EvaluationJob>(body))
            return Fail(ErrorCode::kCorrupt, "a job's body is of another kind than its row");
          job.added.plan = EvaluationPlan{row.Text(6), row.Text(7), std::get<EvaluationJob>(body)};
        }
        job.changed = {id,
                       static_cast<JobState>(row.Int(9)),
                       static_cast<uint32_t>(row.Int(10)),
                       static_cast<uint32_t>(row.Int(11)),
                       row.Int(12),
                       row.Text(13)};
        snapshot.jobs.push_back(std::move(job));
        return {};
      }));
  for (JobSnapshot& job : snapshot.jobs) RETURN_IF_ERROR(ReadDone(db, job));
  RETURN_IF_ERROR(
      db.Each("SELECT key, job FROM jobs WHERE key IS NOT NULL", [&](const Row& row) -> Status {
        snapshot.evaluation_keys[row.Text(0)] = JobId(row.Id(1));
        return {};
      }));
  RETURN_IF_ERROR(db.Each("SELECT coalesce(max(job), 0) FROM jobs", [&](const Row& row) -> Status {
    snapshot.last_job = row.Id(0);
    return {};
  }));
  return db.Each("SELECT state, count(*) FROM jobs GROUP BY state", [&](const Row& row) -> Status {
    snapshot.counts.submitted += row.Int(1);
    switch (static_cast<JobState>(row.Int(0))) {
      case JobState::kQueued: snapshot.counts.queued = row.Int(1); break;
      case JobState::kLeased: snapshot.counts.leased = row.Int(1); break;
      case JobState::kFinished: snapshot.counts.finished = row.Int(1); break;
      case JobState::kCancelled: snapshot.counts.cancelled = row.Int(1); break;
    }
    return {};
  });
}

}  // namespace

Status WriteRecords(Database& database, const std::vector<Record>& records) {
  for (const Record& record : records)
    RETURN_IF_ERROR(std::visit([&](const auto& what) { return Write(database, what); }, record));
  return {};
}

Result<Snapshot> ReadSnapshot(Database& database) {
  Snapshot snapshot;
  RETURN_IF_ERROR(ReadRuns(database, snapshot));
  RETURN_IF_ERROR(ReadJobs(database, snapshot));
  RETURN_IF_ERROR(
      database.Each("SELECT incarnation, peer, took_over FROM learners ORDER BY incarnation",
                    [&](const Row& row) -> Status {
                      snapshot.learners.push_back({row.Id(0), row.Text(1), row.Int(2) != 0});
                      return {};
                    }));
  return snapshot;
}

}  // namespace warpsmith
