// What is pure about judging a candidate: which cases at which depth, how finely they are timed,
// how many sets of buffers, and the floor below which no honest time lies (docs/design.md,
// "Evaluation" and "Rules", 9).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/clock.h"
#include "common/model/outcome.h"
#include "common/model/task.h"
#include "schema/device.h"
#include "worker/judgement/statistics.h"
#include "worker/judgement/timing_rules.h"

namespace warpsmith {

struct EvaluationSteps {
  std::vector<size_t> verify;     // indices into CasesOf(task, kind), cheapest roles first
  std::vector<size_t> timed;      // of these, which are timed
  Stage timing = Stage::kScreen;  // the stage that times them
  StoppingOptions stopping;
  size_t free_rounds = 5;      // candidate-free rounds of the baseline before
  int attempts = 3;            // of a case whose measurement is not valid
  TimingRules rules;           // of the kind of device
  bool fresh_process = false;  // a confirmation trusts no process that ran anything before
};

// verify: every edge and train case, nothing timed. screen: train cases, coarse (2 %). measure:
// train and holdout, 1 %. confirm: the same, 0.7 %, in a fresh process.
EvaluationSteps PlanEvaluation(const Task& task, DeviceKind kind, Depth depth);

// Distinct sets of buffers for the timing of a case: over 3 * L2 together where that takes no more
// than eight, at least four, an even number (half of a block's sets run before the baseline's turn,
// half after); two where four would fill a quarter of the device's memory.
size_t BufferSets(uint64_t bytes_per_set, const DeviceFacts& device);

// The least that any kernel must do for a case, in bytes and operations.
struct WorkAmount {
  double read_bytes = 0;
  double write_bytes = 0;
  double flops = 0;
};
// Microseconds; 0 where the device's peaks are unknown. Writes that fit in L2 may stay there.
double FloorUs(const WorkAmount& work, const DeviceFacts& device);

// What one evaluation of a case may need at its peak on the device: sets of buffers, and the
// reference in fp64 with as much again for its intermediates.
uint64_t NeededBytes(uint64_t bytes_per_set, size_t sets, uint64_t elements);

// How long a runner may take for one verification run, from what the baseline takes.
Duration RunLimit(double baseline_us, size_t runs, DeviceKind kind);

}  // namespace warpsmith
