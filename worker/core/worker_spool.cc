#include "worker/core/worker_spool.h"

#include "common/model/outcome.h"

namespace warpsmith {
namespace {

// Between two bursts, so that a long spool does not fill the socket.
constexpr Duration kBurstPause = std::chrono::milliseconds(50);
constexpr int kMaxDelayFactor = 8;

JobId JobOf(const WorkerMessage& message) {
  if (const auto* result = std::get_if<TrajectoryResult>(&message)) return result->job;
  return std::get<EvaluationResult>(message).job;
}

}  // namespace

size_t ResultSpool::Of(JobId job) const {
  return static_cast<size_t>(std::count_if(
      entries_.begin(), entries_.end(), [&](const auto& item) { return item.second.job == job; }));
}

bool ResultSpool::HoldsVerdict(const ResultKey& evaluation) {
  auto it = entries_.find(evaluation);
  if (it == entries_.end()) return false;
  const auto& result = std::get<EvaluationResult>(it->second.message);
  if (!IsInfrastructure(result.evaluation.outcome)) return true;
  entries_.erase(it);
  return false;
}

void ResultSpool::Add(TimePoint now, ResultKey key, WorkerMessage message) {
  JobId job = JobOf(message);
  entries_.try_emplace(std::move(key), Entry{job, std::move(message), now, resend_after_});
  next_due_ = std::min(next_due_, now);
}

bool ResultSpool::Acknowledge(const ResultKey& key) { return entries_.erase(key) > 0; }

void ResultSpool::Refence(JobId job, const Fence& fence) {
  for (auto& [key, entry] : entries_) {
    if (entry.job != job) continue;
    if (auto* result = std::get_if<TrajectoryResult>(&entry.message)) {
      result->fence = fence;
    } else {
      std::get<EvaluationResult>(entry.message).fence = fence;
    }
  }
}

void ResultSpool::SendAllAgain(TimePoint now) {
  size_t i = 0;
  for (auto& [key, entry] : entries_) {
    entry.due = now + kBurstPause * static_cast<int64_t>(i++ / burst_);
    entry.delay = resend_after_;
  }
  next_due_ = entries_.empty() ? TimePoint::max() : now;
}

std::vector<WorkerMessage> ResultSpool::Due(TimePoint now) {
  std::vector<WorkerMessage> due;
  if (now < next_due_) return due;
  next_due_ = TimePoint::max();
  for (auto& [key, entry] : entries_) {
    if (entry.due <= now && due.size() < burst_) {
      due.push_back(entry.message);
      entry.due = now + entry.delay;
      entry.delay = std::min(entry.delay * 2, resend_after_ * kMaxDelayFactor);
    }
    next_due_ = std::min(next_due_, entry.due <= now ? now + kBurstPause : entry.due);
  }
  return due;
}

std::optional<TimePoint> ResultSpool::NextDue() const {
  if (entries_.empty()) return std::nullopt;
  return next_due_;
}

}  // namespace warpsmith
