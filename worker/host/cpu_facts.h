// What the host's lane is: the cores that this process may use.
#pragma once

#include <cstdint>

#include "schema/device.h"

namespace warpsmith {

// Reads the affinity, /proc and /sys; a fact that cannot be read is 0 or empty. Bandwidth and peak
// are unknown. `index` is the lane's, 0 on today's hosts.
DeviceFacts HostFacts(int index = 0);

// The cache that one core has for itself (level 2), bytes; 0: unknown.
int64_t PrivateCacheBytes();

// Cores in the calling thread's affinity mask, at least 1.
int LaneCores();

}  // namespace warpsmith
