// What a candidate's process may ask of the kernel, as a seccomp program.
#pragma once

#include <linux/filter.h>

#include <vector>

#include "common/base/result.h"

namespace warpsmith {

// What a static program needs to start, threads of its own, memory that is not executable, and the
// socket to its runner; everything else ends the process (SIGSYS). Made by libseccomp before the
// fork, so that the child only has to hand it to the kernel. kExhausted: no memory for it;
// kInternal: libseccomp refuses.
Result<std::vector<sock_filter>> MakeSyscallFilter();

}  // namespace warpsmith
