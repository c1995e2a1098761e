#include "coordinator/core/record.h"

#include "common/base/check.h"

namespace warpsmith {

const char* ToString(JobState state) {
  switch (state) {
    case JobState::kQueued: return "queued";
    case JobState::kLeased: return "leased";
    case JobState::kFinished: return "finished";
    case JobState::kCancelled: return "cancelled";
  }
  CHECK(false, "every state has a word");
}

void CountTurn(RunCounters& counters, const TaskId& task, const Outcome& outcome) {
  ++counters.finished_evaluations;
  counters.correct_evaluations += IsCorrect(outcome);
  counters.infrastructure_evaluations += IsInfrastructure(outcome);
  if (SpeedupOf(outcome) > counters.best_speedup) {
    counters.best_speedup = SpeedupOf(outcome);
    counters.best_task = task;
  }
}

}  // namespace warpsmith
