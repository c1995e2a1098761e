// The whole coordinator as a process runs it.
#pragma once

#include "common/base/result.h"
#include "common/runtime/signals.h"
#include "coordinator/shell/config.h"

namespace warpsmith {

// Runs until asked to stop. kExhausted: the address or the directory is in use.
Status RunCoordinator(const CoordinatorConfig& config, StopSignals& signals);

}  // namespace warpsmith
