#include "worker/shell/cores.h"

#include <sched.h>

#include <algorithm>
#include <cstddef>

namespace warpsmith {

std::vector<int> AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(static_cast<int>(core));
    }
  }
  return cores;
}

CorePlan SplitCores(const std::vector<int>& cores) {
  if (cores.size() < 2) return {cores, cores};
  auto middle = cores.end() - static_cast<std::ptrdiff_t>(cores.size() / 2);
  return {.lane = {middle, cores.end()}, .rest = {cores.begin(), middle}};
}

void StayOn(const std::vector<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores) CPU_SET(static_cast<size_t>(core), &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace warpsmith
