// What must hold after every step of the coordinator, whatever the world does. Violated: the
// simulation stops with the story's seed and what was broken.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/coordinator.h"
#include "tests/simulation/disk.h"

namespace warpsmith::sim {

class Invariants {
 public:
  explicit Invariants(const Disk& disk) : disk_(disk) {}

  // Around each step: what the event may do to leases is known before it.
  void BeforeStep(const Coordinator& core, const Event& event);
  void AfterStep(const Coordinator& core, TimePoint now, const Effects& effects);
  // When everything has ended.
  void EveryPartHasAResult();
  // Of a worker's policy: weights never go back.
  void Loaded(const WorkerId& worker, RunId run, const PolicyVersion& version);
  // Of all submissions with one key.
  void Accepted(const std::string& key, RunId run);

  const std::vector<std::string>& broken() const { return broken_; }
  void Broken(std::string what) { broken_.push_back(std::move(what)); }

 private:
  void Check(bool holds, const std::string& what) {
    if (!holds) broken_.push_back(what);
  }
  void Admitted(const Coordinator& core, const TrainingRun& run);
  void Promised(const Coordinator& core, const Effect& effect);
  void LeasesMovedByRight(const Coordinator& core, TimePoint now);
  // What its own words may do to a worker's leases.
  void Rights(const Coordinator& core, const WorkerSaid& event);

  const Disk& disk_;
  // Of this step.
  std::map<JobId, Lease> leases_;  // before it
  bool all_may_end_ = false;
  bool time_passed_ = false;
  std::set<JobId> may_end_;
  std::set<JobId> may_renew_;
  // Evaluations that were once said to have ended in infrastructure: acknowledged, never stored.
  std::set<std::pair<JobId, uint32_t>> unjudged_;
  std::set<std::pair<JobId, Fence>> fences_;
  std::map<std::pair<WorkerId, RunId>, PolicyVersion> loaded_;
  std::map<std::string, RunId> keys_;
  std::vector<std::string> broken_;
};

}  // namespace warpsmith::sim
