// The coordinator's disk: batches become durable in order, some time after they were given; a crash
// loses what was not, a full disk waits. What is durable is known to the model of the store, and to
// the invariants.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>

#include "common/base/random.h"
#include "coordinator/core/event.h"
#include "coordinator/core/store_image.h"
#include "tests/simulation/clockwork.h"

namespace warpsmith::sim {

// What may be promised to others, because it is durable.
struct Durable {
  std::set<TrajectoryId> trajectories;
  std::set<std::pair<RunId, GroupId>> ended_groups;
  std::set<RunId> runs;
  std::set<RunId> ended_runs;
  std::set<std::pair<JobId, uint32_t>> granted;      // (job, attempt)
  std::set<std::pair<JobId, uint32_t>> evaluations;  // (job, index)
  std::set<JobId> jobs;
  std::set<JobId> ended_jobs;
  std::map<JobId, int64_t> finished_jobs;  // with their masked evaluations
  std::set<std::pair<RunId, PolicyVersion>> checkpoints;
  std::set<uint64_t> incarnations;
  std::map<JobId, JobPlan> plans;

  void Learn(const Record& record);
};

class Disk {
 public:
  Disk(Clockwork& clockwork, Random& random) : clockwork_(clockwork), random_(random) {}

  void Write(StoreRecords batch);
  void Full(bool full);
  // The process is gone; a last transaction may just have made it.
  void Crash();
  // Whom to tell; set by each life of the coordinator.
  std::function<void(Stored)> stored;
  std::function<void(StoreHealth)> health;

  StoreImage image{"simulated"};
  Durable durable;

 private:
  void Begin();
  void Commit(size_t batches);

  Clockwork& clockwork_;
  Random& random_;
  std::deque<StoreRecords> waiting_;
  bool busy_ = false;
  bool full_ = false;
  uint64_t life_ = 0;
};

}  // namespace warpsmith::sim
