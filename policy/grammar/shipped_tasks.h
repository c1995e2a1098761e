// The kinds of tasks that ship, for tests of policies and learners: one of each operation with
// small cases of both devices, odd sizes and empty ones included.
#pragma once

#include <vector>

#include "common/model/task.h"

namespace warpsmith {

std::vector<Task> ShippedTasks();

}  // namespace warpsmith
