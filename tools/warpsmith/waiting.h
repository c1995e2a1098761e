// Waiting that a signal ends.
#pragma once

#include "common/base/clock.h"
#include "common/runtime/signals.h"

namespace warpsmith {

// Returns when asked to stop, or after `duration`.
void WaitForStop(const StopSignals& signals, Duration duration);

}  // namespace warpsmith
