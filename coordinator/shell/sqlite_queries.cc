#include "coordinator/shell/sqlite_queries.h"

#include <map>

#include "common/wire/codec.h"

namespace warpsmith {
namespace {

Result<ClientReply> Best(Database& db, RunId run) {
  std::map<std::string, BestRow> rows;
  RETURN_IF_ERROR(db.Each(
      "SELECT task, outcome, count(*) FROM evaluations WHERE run = ? GROUP BY task, outcome",
      [&](const Row& row) -> Status {
        BestRow& best = rows[row.Text(0)];
        best.task = TaskId(row.Text(0));
        best.outcomes.push_back({row.Text(1), row.Int(2)});
        return {};
      },
      run.value()));
  BestTable table{run, {}};
  for (auto& [task, best] : rows) {
    RETURN_IF_ERROR(db.Each(
        "SELECT candidate, evaluation FROM evaluations WHERE run = ? AND task = ? AND "
        "outcome = 'correct' ORDER BY speedup DESC, ord LIMIT 1",
        [&](const Row& row) -> Status {
          ASSIGN_OR_RETURN(best.evaluation, Decode<Evaluation>(row.Text(1)));
          best.candidate = row.Text(0);
          return {};
        },
        run.value(), task));
    table.rows.push_back(std::move(best));
  }
  return table;
}

Result<ClientReply> HistoryOf(Database& db, const RunStatus& status) {
  History history;
  history.status = status;
  RETURN_IF_ERROR(db.Each(
      "SELECT task, outcome, speedup, reward, step, turn, reward_version FROM evaluations "
      "WHERE run = ? "
      "ORDER BY ord",
      [&](const Row& row) -> Status {
        history.evaluations.push_back({TaskId(row.Text(0)), row.Text(1), row.Real(2), row.Real(3),
                                       row.Id(4), static_cast<int32_t>(row.Int(5)),
                                       static_cast<uint32_t>(row.Int(6))});
        return {};
      },
      status.run.value()));
  RETURN_IF_ERROR(db.Each(
      "SELECT payload FROM checkpoints WHERE run = ? ORDER BY incarnation, step",
      [&](const Row& row) -> Status {
        ASSIGN_OR_RETURN(const CheckpointDurable checkpoint,
                         Decode<CheckpointDurable>(row.Text(0)));
        history.steps.push_back(checkpoint.report);
        return {};
      },
      status.run.value()));
  return history;
}

Result<ClientReply> JobOf(Database& db, const QueryStore& query) {
  const JobId id = std::get<GetJob>(query.call.request).job;
  JobStatus status;
  bool found = false;
  RETURN_IF_ERROR(db.Each(
      "SELECT state, problem, body FROM jobs WHERE job = ?",
      [&](const Row& row) -> Status {
        found = true;
        status.job = id;
        status.state = ToString(static_cast<JobState>(row.Int(0)));
        status.problem = row.Text(1);
        if (row.Null(2)) return {};
        ASSIGN_OR_RETURN(const JobBody body, Decode<JobBody>(row.Text(2)));
        if (const auto* evaluation = std::get_if<EvaluationJob>(&body))
          status.results.resize(evaluation->candidates.size());
        return {};
      },
      id.value()));
  if (!found)
    return RequestFailed{ToString(ErrorCode::kNotFound), "no job " + std::to_string(id.value())};
  if (!query.job_state.empty()) {
    status.state = query.job_state;
    status.problem = query.job_problem;
  }
  RETURN_IF_ERROR(db.Each(
      "SELECT place, evaluation FROM evaluations WHERE job = ? AND place IS NOT NULL",
      [&](const Row& row) -> Status {
        if (row.Id(0) >= status.results.size()) return {};
        ASSIGN_OR_RETURN(auto evaluation, Decode<Evaluation>(row.Text(1)));
        status.results[row.Id(0)] = {std::move(evaluation)};
        return {};
      },
      id.value()));
  return status;
}

}  // namespace

Result<ClientReply> AnswerQuery(Database& database, const QueryStore& query) {
  if (std::holds_alternative<GetBest>(query.call.request)) return Best(database, query.status.run);
  if (std::holds_alternative<GetHistory>(query.call.request))
    return HistoryOf(database, query.status);
  return JobOf(database, query);
}

Result<std::vector<StreamEntry>> ReadStream(Database& database, RunId run, uint64_t from,
                                            size_t limit) {
  std::vector<StreamEntry> entries;
  RETURN_IF_ERROR(database.Each(
      "SELECT publish_seq, payload FROM trajectories WHERE run = ? AND publish_seq >= ? "
      "ORDER BY publish_seq LIMIT ?",
      [&](const Row& row) -> Status {
        entries.push_back({row.Id(0), row.Text(1)});
        return {};
      },
      run.value(), from, uint64_t{limit}));
  return entries;
}

}  // namespace warpsmith
