#include "worker/core/lane_board.h"

#include <algorithm>

namespace warpsmith {

void LaneBoard::Started(TimePoint now, uint64_t id, const OpenEvaluation& evaluation) {
  if (Load(evaluation.lane) == 0) moved_[evaluation.lane] = now;
  if (evaluation.job) last_started_[evaluation.lane] = *evaluation.job;
  open_[id] = evaluation;
}

std::optional<OpenEvaluation> LaneBoard::Answered(TimePoint now, uint64_t id) {
  const auto it = open_.find(id);
  if (it == open_.end()) return std::nullopt;
  const OpenEvaluation evaluation = it->second;
  open_.erase(it);
  moved_[evaluation.lane] = now;
  return evaluation;
}

void LaneBoard::Forget(JobId job) {
  for (auto& [id, evaluation] : open_)
    if (evaluation.job == job) evaluation.job.reset();
}

size_t LaneBoard::Load(int lane) const {
  return static_cast<size_t>(std::count_if(
      open_.begin(), open_.end(), [&](const auto& item) { return item.second.lane == lane; }));
}

bool LaneBoard::Has(JobId job) const {
  return std::any_of(open_.begin(), open_.end(),
                     [&](const auto& item) { return item.second.job == job; });
}

WorkerJob* LaneBoard::Next(int lane, std::map<JobId, WorkerJob>& jobs) const {
  const auto waits = [&](const auto& item) {
    return item.second.device_index == lane && !item.second.ready.empty();
  };
  const auto last = last_started_.find(lane);
  const auto after = jobs.upper_bound(last == last_started_.end() ? JobId() : last->second);
  auto it = std::find_if(after, jobs.end(), waits);
  if (it == jobs.end()) {
    it = std::find_if(jobs.begin(), after, waits);
    if (it == after) return nullptr;
  }
  return &it->second;
}

}  // namespace warpsmith
