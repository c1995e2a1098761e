// What follows from a task.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/task.h"

namespace warpsmith {

// One choice of a task's dimensions: name -> size.
using Dims = std::map<std::string, int64_t>;

// The simulated device takes the host's.
inline const std::vector<Case>& CasesOf(const Task& task, DeviceKind kind) {
  return kind == DeviceKind::kCuda ? task.cuda_cases : task.host_cases;
}

}  // namespace warpsmith
