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

  void AfterStep(const Coordinator& core, const Effects& effects);
  // A new life: what was only in memory is gone.
  void Restarted() {}
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
  void Promised(const Effect& effect);

  const Disk& disk_;
  std::set<std::pair<JobId, Fence>> fences_;
  std::map<std::pair<WorkerId, RunId>, PolicyVersion> loaded_;
  std::map<std::string, RunId> keys_;
  std::vector<std::string> broken_;
};

}  // namespace warpsmith::sim
