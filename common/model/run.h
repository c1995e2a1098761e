// What follows from a run's specification.
#pragma once

#include <vector>

#include "schema/run.h"

namespace warpsmith {

// Whether a learner trains this run's policy.
inline bool Learns(const RunSpec& spec) { return spec.policy != "random"; }
const Task* FindTask(const RunSpec& spec, const TaskId& id);  // null: none
std::vector<const Task*> AllTasks(const RunSpec& spec);

}  // namespace warpsmith
