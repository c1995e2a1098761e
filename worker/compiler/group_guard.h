// What a compiler starts (g++, and what g++ starts) knows nothing of the supervisor, and would
// outlive it: the kernel's parent-death signal reaches children only, not their children.
#pragma once

#include "common/base/result.h"

namespace warpsmith {

// From now on this process's whole group is killed when this process, or the one that started it,
// ends, in whatever way. A small process of the group sees to it: call this before the sandbox,
// whose rules it must not be under, and before there is a second thread. Does nothing in a process
// that leads no group of its own.
Status GuardGroup();

}  // namespace warpsmith
