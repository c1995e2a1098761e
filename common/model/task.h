// What follows from a task.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/model/device_kind.h"
#include "schema/task.h"

namespace warpsmith {

// One choice of a task's dimensions: name -> size.
using Dims = std::map<std::string, int64_t>;

// The list that this kind of device takes.
inline const std::vector<Case>& CasesOf(const Task& task, DeviceKind kind) {
  return TraitsOf(kind).cases == CaseList::kGpu ? task.cuda_cases : task.host_cases;
}

}  // namespace warpsmith
