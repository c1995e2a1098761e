// Records with the content that a run on a GPU gives them: the starter suite's own texts, and
// numbers with all their digits. The same at every call. A benchmark takes its records from here,
// so that it means the same after a record has changed its shape.
#pragma once

#include <cstdint>
#include <string>

#include "schema/coordinator.h"

namespace warpsmith {

// suites/starter.yaml, eight tasks.
const Suite& StarterSuite();
// Its softmax_rows: two reductions, 0.9 KB of starter.
const Task& StarterTask();

DeviceFacts GpuFacts();

// Correct at screen depth: one timed case of 12 blocks, stages, a kernel's resources. `seed` varies
// the numbers.
Evaluation GpuEvaluation(const Task& task, uint64_t seed);

// An episode whose turns are all correct, each with the task's starter as its text and 6 choices.
// `version`: of the policy that wrote it.
Trajectory GpuTrajectory(const TrajectoryId& id, const Task& task, int turns,
                         PolicyVersion version = {});

// A run on the starter suite with groups of 16 episodes, 4 turns each, and a budget that no
// benchmark reaches.
RunSpec StarterRun(const std::string& policy = "random");

}  // namespace warpsmith
