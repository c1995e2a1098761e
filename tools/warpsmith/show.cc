#include "tools/warpsmith/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/result.h"
#include "common/model/outcome.h"
#include "common/model/task.h"
#include "common/model/trajectory.h"
#include "tools/warpsmith/progress.h"
#include "tools/warpsmith/table.h"

namespace warpsmith {
namespace {

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, size] : dims)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
  return text;
}

// A resource that a device kind may not have.
std::string OrDash(int value) { return value < 0 ? "-" : std::to_string(value); }

std::string ShowMeasurements(const std::vector<Measurement>& measurements) {
  Table table({"case", "", "baseline", ">baseline us", ">candidate us", ">speed-up", ">interval",
               "comparison", "validity", ">floor us"});
  for (const auto& m : measurements)
    table.Add({ToString(m.timed_case.role), DimsText(m.timed_case.dims), m.baseline,
               fmt::format("{:.2f}", m.baseline_us), fmt::format("{:.2f}", m.candidate_us),
               fmt::format("{:.3f}x", m.speedup),
               fmt::format("{:.3f}-{:.3f}", m.speedup_low, m.speedup_high), ToString(m.comparison),
               ToString(m.validity), m.floor_us > 0 ? fmt::format("{:.2f}", m.floor_us) : "-"});
  return table.ToString();
}

}  // namespace

std::string DeviceName(const DeviceFacts& device) {
  return fmt::format("{} ({})", device.name.empty() ? "unnamed device" : device.name,
                     ToString(device.kind));
}

int EvaluationStatus(const Outcome& outcome) {
  if (IsCorrect(outcome)) return 0;
  const auto* infrastructure = std::get_if<Infrastructure>(&outcome);
  if (!infrastructure) return 1;
  switch (infrastructure->kind) {
    case InfrastructureKind::kDriver:
    case InfrastructureKind::kUnsupportedArchitecture: return ExitStatus(ErrorCode::kMissing);
    case InfrastructureKind::kDisk:
    case InfrastructureKind::kOutOfMemory: return ExitStatus(ErrorCode::kExhausted);
    case InfrastructureKind::kInternal: return ExitStatus(ErrorCode::kInternal);
    default: return ExitStatus(ErrorCode::kUnavailable);
  }
}

std::string ShowEvaluation(const Evaluation& evaluation) {
  std::string text = fmt::format("{}\ntask {}, device {}, depth {}\n", Describe(evaluation.outcome),
                                 evaluation.task.value(), DeviceName(evaluation.device),
                                 ToString(evaluation.depth));
  if (const auto* correct = std::get_if<Correct>(&evaluation.outcome);
      correct && !correct->measurements.empty())
    text += "\n" + ShowMeasurements(correct->measurements);
  if (!evaluation.kernels.empty()) {
    Table table({"kernel", ">registers", ">spill bytes", ">shared bytes", ">threads at most"});
    for (const auto& k : evaluation.kernels)
      table.Add({k.name, OrDash(k.registers), OrDash(k.spill_bytes), OrDash(k.static_shared_bytes),
                 OrDash(k.max_threads_per_block)});
    text += "\n" + table.ToString();
  }
  std::string stages;
  for (const auto& stage : evaluation.stages)
    stages +=
        fmt::format("{}{} {:.0f} ms", stages.empty() ? "" : ", ", ToString(stage.stage), stage.ms);
  if (!stages.empty()) text += "\nstages: " + stages + "\n";
  if (!evaluation.log.empty()) {
    text += "\n" + evaluation.log;
    if (!text.ends_with('\n')) text += "\n";
  }
  return Printable(std::move(text));
}

std::string ShowCluster(const ClusterStatus& cluster) {
  std::string text =
      fmt::format("coordinator: epoch {}, learner {}, Redis {}\n", cluster.epoch,
                  cluster.learner_alive ? "alive" : "away", cluster.redis_alive ? "alive" : "away");
  if (!cluster.problem.empty()) text += "problem: " + cluster.problem + "\n";
  text += fmt::format("jobs: {} submitted = {} queued + {} leased + {} finished + {} cancelled{}\n",
                      cluster.jobs_submitted, cluster.jobs_queued, cluster.jobs_leased,
                      cluster.jobs_finished, cluster.jobs_cancelled,
                      cluster.conservation_error == 0
                          ? ""
                          : fmt::format(" (off by {}: a bug)", cluster.conservation_error));
  Table runs({">run", "name", "policy", "device", "state", ">evaluations", ">correct", ">masked",
              ">best", "best task", "version", "note"});
  for (const auto& r : cluster.runs)
    runs.Add({std::to_string(r.run.value()), r.name, r.policy, r.device, ToString(r.state),
              fmt::format("{}/{}", r.finished_evaluations, r.budget_evaluations),
              std::to_string(r.correct_evaluations), std::to_string(r.infrastructure_evaluations),
              r.best_speedup > 0 ? fmt::format("{:.2f}x", r.best_speedup) : "-",
              r.best_task.value(), ToString(r.version), r.problem});
  text += runs.empty() ? "\nno runs yet\n" : "\n" + runs.ToString();
  Table workers({"worker", "state", "devices", ">jobs", ">results", ">silent"});
  for (const auto& w : cluster.workers) {
    std::string devices;
    for (const auto& device : w.devices)
      devices += (devices.empty() ? "" : ", ") + DeviceName(device);
    workers.Add({w.name, w.state, devices, std::to_string(w.jobs_leased), std::to_string(w.results),
                 fmt::format("{:.1f} s", w.silent_s)});
  }
  text += workers.empty() ? "\nno workers\n" : "\n" + workers.ToString();
  return Printable(std::move(text));
}

std::string ShowBest(const BestTable& best) {
  Table table({"task", ">speed-up", ">interval", ">candidate us", ">baseline us", "comparison",
               ">correct", ">judged", "device"});
  for (const auto& row : best.rows) {
    int64_t correct = 0;
    int64_t judged = 0;
    for (const auto& o : row.outcomes) {
      if (o.outcome == "correct") correct += o.count;
      if (o.outcome != "infrastructure") judged += o.count;
    }
    const auto* outcome = std::get_if<Correct>(&row.evaluation.outcome);
    if (row.candidate.empty() || !outcome || outcome->measurements.empty()) {
      table.Add({row.task.value(), "-", "", "", "", "", std::to_string(correct),
                 std::to_string(judged), ""});
      continue;
    }
    const auto& m = outcome->measurements.front();
    table.Add({row.task.value(), fmt::format("{:.3f}x", outcome->speedup),
               fmt::format("{:.3f}-{:.3f}", m.speedup_low, m.speedup_high),
               fmt::format("{:.2f}", m.candidate_us), fmt::format("{:.2f}", m.baseline_us),
               ToString(m.comparison), std::to_string(correct), std::to_string(judged),
               DeviceName(row.evaluation.device)});
  }
  return Printable(table.ToString());
}

}  // namespace warpsmith
