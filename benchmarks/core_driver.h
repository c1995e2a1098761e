// Plays workers, a learner and a client against a coordinator's core whose store is durable at
// once, in waves: in each, every job that is leased gets all of its results, and what a learner is
// owed is consumed in one step. Only what the core does is timed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/core/coordinator.h"
#include "schema/coordinator.h"

namespace warpsmith {

enum class Workload {
  kEvaluationJobs,  // of one candidate each
  kRollout,         // a run that nothing learns from
  kLearning,        // a run with a learner
};

// Not shared among threads.
class CoreDriver {
 public:
  struct Options {
    Workload workload = Workload::kEvaluationJobs;
    int workers = 1;
    uint32_t capacity = 16;     // jobs that each worker holds at once
    int64_t backlog = 0;        // evaluation jobs that wait beside those
    bool keep_batches = false;  // for a store that is to be given them later
  };
  // Submits what there is to do, and registers who does it.
  explicit CoreDriver(Options options);

  // One wave. A job's life is submission, grant, results, acknowledgements and end.
  void Wave();
  // Every worker says that it is there.
  void Heartbeats();

  // CPU seconds of this thread inside the core, since it was last asked.
  double TakeSeconds();

  int64_t jobs() const { return jobs_; }  // whose life is over
  int64_t results() const { return results_; }
  int64_t evaluations() const { return evaluations_; }  // judged candidates in these results
  std::vector<StoreRecords>& batches() { return batches_; }

 private:
  struct Assigned {
    WorkerId worker;
    AssignJob job;
  };
  void Step(std::vector<Event> events);
  void Obey(Effects effects, std::vector<Event>& then);
  std::vector<Event> Submissions(int64_t count);
  void AppendResults(const Assigned& assigned, std::vector<Event>& events);
  void AppendLearnerStep(int64_t results, std::vector<Event>& events);

  Options options_;
  TimePoint now_{};
  Coordinator core_;
  std::vector<WorkerId> workers_;
  std::vector<Assigned> assigned_;
  std::vector<StoreRecords> batches_;
  uint64_t submissions_ = 0;
  PolicyVersion version_;       // of the learner's newest checkpoint
  uint64_t learner_place_ = 0;  // everything below is consumed
  double seconds_ = 0;
  int64_t jobs_ = 0;
  int64_t results_ = 0;
  int64_t evaluations_ = 0;
  int64_t acknowledged_ = 0;
};

}  // namespace warpsmith
