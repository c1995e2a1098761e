// Brings libtorch's CUDA half into a process that is linked against its CPU half only, where a GPU
// is.
#pragma once

#include "common/base/result.h"

namespace warpsmith {

// Opens libc10_cuda and libtorch_cuda from beside libtorch_cpu, or from WARPSMITH_TORCH_LIB, so
// that at::kCUDA works. Call it before the first use of a CUDA tensor; once a process is enough.
// kMissing says what did not open. Any thread.
Status LoadTorchCuda();

}  // namespace warpsmith
