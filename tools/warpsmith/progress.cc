#include "tools/warpsmith/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/model/trajectory.h"
#include "tools/warpsmith/table.h"

namespace warpsmith {

std::string ForPeople(Duration duration) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

bool HasEnded(RunState state) {
  return state == RunState::kComplete || state == RunState::kCancelled ||
         state == RunState::kFailed;
}

std::string ProgressLine::Text(const RunStatus& status, TimePoint now, size_t width) {
  const int64_t budget = std::max<int64_t>(status.budget_evaluations, 1);
  const int64_t finished = std::min(status.finished_evaluations, budget);
  if (!begun_) {
    begun_ = true;
    since_ = now;
    finished_at_begin_ = finished;
  }

  constexpr int kBar = 20;
  const int filled = static_cast<int>(finished * kBar / budget);
  std::string line = fmt::format("[{}{}] {:3}%  {}/{} evaluations", std::string(filled, '#'),
                                 std::string(kBar - filled, '-'), finished * 100 / budget,
                                 status.finished_evaluations, status.budget_evaluations);
  const int64_t judged = status.finished_evaluations - status.infrastructure_evaluations;
  if (judged > 0) line += fmt::format("  pass {}%", status.correct_evaluations * 100 / judged);
  if (status.best_speedup > 0)
    line += fmt::format("  best {:.2f}x {}", status.best_speedup, status.best_task.value());
  const int64_t moved = finished - finished_at_begin_;
  if (status.state == RunState::kFinishing) {
    line += "  training on the last batch";
  } else if (moved > 0 && now > since_) {
    const Duration left((now - since_).count() / moved * (budget - finished));
    line += "  " + ForPeople(left) + " left";
  }
  if (status.device != "auto") line += "  on " + status.device;
  if (!status.problem.empty()) line += "  (" + status.problem + ")";
  return Printable(line.substr(0, width));
}

std::string Summary(const RunStatus& status) {
  const int64_t judged = status.finished_evaluations - status.infrastructure_evaluations;
  std::string text = fmt::format("run {} ({}, policy {}, device {}): {}", status.run.value(),
                                 status.name, status.policy, status.device, ToString(status.state));
  if (!status.problem.empty()) text += ": " + status.problem;
  text += fmt::format(
      "\n  {} of {} evaluations, {} correct ({:.0f}%), {} masked as infrastructure\n",
      status.finished_evaluations, status.budget_evaluations, status.correct_evaluations,
      judged > 0 ? 100.0 * status.correct_evaluations / judged : 0.0,
      status.infrastructure_evaluations);
  if (status.trajectories_consumed > 0)
    text += fmt::format("  {} trajectories trained, {} stale; policy version {}\n",
                        status.trajectories_trained, status.trajectories_stale,
                        ToString(status.version));
  if (status.best_speedup > 0)
    text += fmt::format("  best: {:.3f}x on {} (as screened, device {})\n", status.best_speedup,
                        status.best_task.value(), status.device);
  if (status.ended_at_ms > status.started_at_ms)
    text += fmt::format("  took {}\n", ForPeople(std::chrono::milliseconds(status.ended_at_ms -
                                                                           status.started_at_ms)));
  return Printable(std::move(text));
}

}  // namespace warpsmith
