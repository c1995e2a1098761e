#include "tools/warpsmith/json.h"

#include <nlohmann/json.hpp>

namespace warpsmith {
namespace {

using Json = nlohmann::ordered_json;

// Texts of candidates may hold bytes that are no UTF-8: those become U+FFFD.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json DeviceJson(const DeviceFacts& device) {
  return {{"kind", ToString(device.kind)},
          {"index", device.index},
          {"name", device.name},
          {"uuid", device.uuid},
          {"architecture", device.architecture},
          {"sm_count", device.sm_count},
          {"memory_bytes", device.memory_bytes},
          {"clock_mode", device.clock_mode == ClockMode::kLocked ? "locked" : "observed"},
          {"driver", device.driver},
          {"toolkit", device.toolkit}};
}

Json MeasurementJson(const Measurement& m) {
  return {{"role", ToString(m.timed_case.role)},
          {"dims", m.timed_case.dims},
          {"device_kind", ToString(m.device_kind)},
          {"clock_mode", m.clock_mode == ClockMode::kLocked ? "locked" : "observed"},
          {"baseline", m.baseline},
          {"validity", ToString(m.validity)},
          {"comparison", ToString(m.comparison)},
          {"candidate_us", m.candidate_us},
          {"baseline_us", m.baseline_us},
          {"speedup", m.speedup},
          {"speedup_low", m.speedup_low},
          {"speedup_high", m.speedup_high},
          {"confidence", m.confidence},
          {"noise", m.noise},
          {"floor_us", m.floor_us},
          {"below_floor", m.below_floor},
          {"warm_candidate_us", m.warm_candidate_us},
          {"sm_clock_mhz", m.sm_clock_mhz},
          {"candidate_block_us", m.candidate_block_us},
          {"baseline_block_us", m.baseline_block_us}};
}

Json ToJson(const Evaluation& evaluation) {
  Json measurements = Json::array();
  if (const auto* correct = std::get_if<Correct>(&evaluation.outcome))
    for (const auto& m : correct->measurements) measurements.push_back(MeasurementJson(m));
  Json stages = Json::object();
  for (const auto& stage : evaluation.stages) {
    auto& ms = stages[ToString(stage.stage)];
    ms = (ms.is_number() ? ms.get<double>() : 0.0) + stage.ms;
  }
  Json kernels = Json::array();
  for (const auto& k : evaluation.kernels)
    kernels.push_back({{"name", k.name},
                       {"registers", k.registers},
                       {"spill_bytes", k.spill_bytes},
                       {"static_shared_bytes", k.static_shared_bytes},
                       {"local_bytes", k.local_bytes},
                       {"max_threads_per_block", k.max_threads_per_block}});
  return {{"outcome", OutcomeName(evaluation.outcome)},
          {"label", OutcomeLabel(evaluation.outcome)},
          {"describe", Describe(evaluation.outcome)},
          {"task", evaluation.task.value()},
          {"device", DeviceJson(evaluation.device)},
          {"speedup", SpeedupOf(evaluation.outcome)},
          {"measurements", std::move(measurements)},
          {"stages_ms", std::move(stages)},
          {"kernels", std::move(kernels)},
          {"log", evaluation.log},
          {"candidate_hash", evaluation.candidate_hash},
          {"depth", ToString(evaluation.depth)}};
}

Json ToJson(const RunStatus& s) {
  return {{"run", s.run.value()},
          {"name", s.name},
          {"policy", s.policy},
          {"state", ToString(s.state)},
          {"device", s.device},
          {"budget_evaluations", s.budget_evaluations},
          {"admitted_evaluations", s.admitted_evaluations},
          {"finished_evaluations", s.finished_evaluations},
          {"correct_evaluations", s.correct_evaluations},
          {"infrastructure_evaluations", s.infrastructure_evaluations},
          {"trajectories_accepted", s.trajectories_accepted},
          {"trajectories_consumed", s.trajectories_consumed},
          {"trajectories_trained", s.trajectories_trained},
          {"trajectories_stale", s.trajectories_stale},
          {"jobs_queued", s.jobs_queued},
          {"jobs_leased", s.jobs_leased},
          {"version", ToString(s.version)},
          {"best_speedup", s.best_speedup},
          {"best_task", s.best_task.value()},
          {"started_at_ms", s.started_at_ms},
          {"ended_at_ms", s.ended_at_ms},
          {"problem", s.problem}};
}

Json ToJson(const WorkerStatus& w) {
  Json devices = Json::array();
  for (const auto& device : w.devices) devices.push_back(DeviceJson(device));
  return {{"id", w.id},
          {"name", w.name},
          {"state", w.state},
          {"devices", std::move(devices)},
          {"jobs_leased", w.jobs_leased},
          {"results", w.results},
          {"silent_s", w.silent_s}};
}

}  // namespace

std::string EvaluationJson(const Evaluation& evaluation) { return Dump(ToJson(evaluation)); }

std::string StatusJson(const RunStatus& status) { return Dump(ToJson(status)); }

std::string StatusJson(const ClusterStatus& s) {
  Json runs = Json::array();
  for (const auto& run : s.runs) runs.push_back(ToJson(run));
  Json workers = Json::array();
  for (const auto& worker : s.workers) workers.push_back(ToJson(worker));
  return Dump(Json{{"epoch", s.epoch},
                   {"runs", std::move(runs)},
                   {"workers", std::move(workers)},
                   {"learner_alive", s.learner_alive},
                   {"redis_alive", s.redis_alive},
                   {"jobs_submitted", s.jobs_submitted},
                   {"jobs_queued", s.jobs_queued},
                   {"jobs_leased", s.jobs_leased},
                   {"jobs_finished", s.jobs_finished},
                   {"jobs_cancelled", s.jobs_cancelled},
                   {"conservation_error", s.conservation_error},
                   {"problem", s.problem}});
}

std::string RunJson(const History& history, const BestTable& best) {
  Json evaluations = Json::array();
  for (const auto& point : history.evaluations)
    evaluations.push_back({{"task", point.task.value()},
                           {"outcome", point.outcome},
                           {"speedup", point.speedup},
                           {"reward", point.reward},
                           {"step", point.step},
                           {"turn", point.turn}});
  Json steps = Json::array();
  for (const auto& s : history.steps)
    steps.push_back({{"step", s.step},
                     {"episodes", s.episodes},
                     {"mean_reward", s.mean_reward},
                     {"pass_rate", s.pass_rate},
                     {"mean_speedup", s.mean_speedup},
                     {"loss", s.loss},
                     {"entropy", s.entropy},
                     {"approx_kl", s.approx_kl},
                     {"clip_fraction", s.clip_fraction},
                     {"mean_staleness", s.mean_staleness},
                     {"seconds", s.seconds}});
  Json rows = Json::array();
  for (const auto& row : best.rows) {
    Json outcomes = Json::object();
    for (const auto& o : row.outcomes) outcomes[o.outcome] = o.count;
    Json entry{{"task", row.task.value()}, {"outcomes", std::move(outcomes)}};
    entry["candidate"] = row.candidate;
    if (!row.candidate.empty()) entry["evaluation"] = ToJson(row.evaluation);
    rows.push_back(std::move(entry));
  }
  return Dump(Json{{"status", ToJson(history.status)},
                   {"evaluations", std::move(evaluations)},
                   {"steps", std::move(steps)},
                   {"best", std::move(rows)}});
}

}  // namespace warpsmith
