// Which cores belong to whom: the host device's lane (oracle and runner) owns the last half of
// those that this process may use, at least one; everything else runs on the rest. With one core
// they share.
#pragma once

#include <vector>

namespace warpsmith {

struct CorePlan {
  std::vector<int> lane;
  std::vector<int> rest;
};

// The cores that this process may run on, ascending.
std::vector<int> AllowedCores();
CorePlan SplitCores(const std::vector<int>& cores);
// This thread and those it starts later run there. Best effort.
void StayOn(const std::vector<int>& cores);

}  // namespace warpsmith
