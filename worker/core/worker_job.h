// A job that this worker holds: what of it is under way. Pure; worker_core_jobs.cc drives it.
#pragma once

#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "schema/worker.h"
#include "worker/core/episode.h"

namespace warpsmith {

struct RolloutWork {
  RolloutJob job;
  std::vector<EpisodeRun> episodes;
};

struct EvaluationWork {
  EvaluationJob job;
  std::vector<int> tries;  // one a candidate: evaluations that ended in infrastructure
  size_t left = 0;         // candidates without a result
};

struct WorkerJob {
  JobId id;
  Fence fence;
  int device_index = 0;
  TimePoint deadline;  // of the whole attempt
  uint64_t evaluations = 0;
  bool moved = false;       // something happened since the last Progress
  TimePoint progress_at{};  // earliest next Progress
  TimePoint renew_at{};     // of a job that stands: its next Progress
  int policy_failures = 0;
  std::variant<RolloutWork, EvaluationWork> work;
  // Evaluations that wait for the lane: of episodes in their work, or of candidates.
  std::deque<size_t> ready;

  // Nothing left to run; results may still wait for their acknowledgement.
  bool Finished() const;
};

inline bool WorkerJob::Finished() const {
  if (const auto* rollout = std::get_if<RolloutWork>(&work)) {
    for (const EpisodeRun& episode : rollout->episodes) {
      if (episode.state() != EpisodeRun::State::kEnded) return false;
    }
    return true;
  }
  return std::get<EvaluationWork>(work).left == 0;
}

}  // namespace warpsmith
