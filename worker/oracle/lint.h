// The semantic lint: refuses tasks on which a candidate could pass without doing the work.
#pragma once

#include "common/base/result.h"
#include "common/model/task.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/reference.h"

namespace warpsmith {

// kInvalidInput names the task, the output and what would pass: zeros, the mean, the middle of the
// range, or an input; or the input that the outputs ignore; or what is wrong with the reference.
// Draws its own content, on the smallest case that is timed.
Status LintTask(const Task& task, const Reference& reference, OracleDevice& device);

}  // namespace warpsmith
