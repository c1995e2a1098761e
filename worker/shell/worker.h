// A worker put together from its parts: evaluator, policy child, weights, transport, loop.
#pragma once

#include "common/base/result.h"
#include "common/runtime/signals.h"
#include "worker/core/worker_core.h"
#include "worker/shell/config.h"

namespace warpsmith {

// Runs until the coordinator refuses it, its devices are sick, or it is asked to stop and has
// drained. kMissing: no such device, or a program of the installation is not there.
Result<Exit> RunWorkerProcess(const WorkerConfig& config, StopSignals& signals);

}  // namespace warpsmith
