// The CUDA driver, opened at run time: one binary runs with and without a GPU. Functions carry
// their names of cuda.h (whose macros pick the versioned symbols).
#pragma once

#include <cuda.h>

#include <string>
#include <tl/expected.hpp>

#include "common/base/result.h"

// What we call. cuda.h's macros turn cuMemFree into cuMemFree_v2 and so on, here and where it is
// used.
// clang-format off
#define WARPSMITH_DRIVER_FUNCTIONS(X)                                                     \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuDeviceGetCount) X(cuDeviceGet)    \
  X(cuDeviceGetName) X(cuDeviceGetUuid) X(cuDeviceTotalMem) X(cuDeviceGetAttribute)       \
  X(cuDeviceGetPCIBusId) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease)         \
  X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuCtxResetPersistingL2Cache)  \
  X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute)      \
  X(cuFuncGetAttribute) X(cuFuncGetParamInfo) X(cuLaunchKernel) X(cuLaunchKernelEx)       \
  X(cuMemAlloc) X(cuMemFree) X(cuMemHostAlloc) X(cuMemFreeHost) X(cuMemHostGetDevicePointer) \
  X(cuMemcpyDtoH) X(cuMemcpyHtoD) X(cuMemcpyDtoHAsync) X(cuMemsetD8Async)                 \
  X(cuMemsetD32Async) X(cuStreamSynchronize) X(cuEventCreate) X(cuEventDestroy)           \
  X(cuEventRecord) X(cuEventElapsedTime) X(cuMemGetInfo) X(cuMemGetAllocationGranularity) \
  X(cuMemCreate) X(cuMemRelease) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemMap)   \
  X(cuMemUnmap) X(cuMemSetAccess) X(cuMemExportToShareableHandle)                         \
  X(cuMemImportFromShareableHandle)
// clang-format on

namespace warpsmith {

struct Driver {
#define WARPSMITH_MEMBER(function) decltype(&::function) function = nullptr;
  WARPSMITH_DRIVER_FUNCTIONS(WARPSMITH_MEMBER)
#undef WARPSMITH_MEMBER
};

// Loaded and initialised once a process. kMissing where there is no driver or no device that it can
// use, with the reason. Any thread.
Result<const Driver*> LoadDriver();

// What a driver call said, and what was being done: the runner makes an outcome of it, the oracle
// an operating error.
struct CudaFailure {
  CUresult code = CUDA_SUCCESS;
  std::string doing;
};

template <typename T>
using CudaResult = tl::expected<T, CudaFailure>;
using CudaStatus = CudaResult<void>;

// "CUDA_ERROR_ILLEGAL_ADDRESS".
std::string CudaErrorName(CUresult code);
// kExhausted for memory, kMissing for a device that is not there, else kInternal.
Error ToError(const CudaFailure& failure);

}  // namespace warpsmith

// CUDA_TRY(driver.cuInit(0), "starting the driver"): returns a CudaFailure from the function on an
// error.
#define CUDA_TRY(call, doing)                                                 \
  do {                                                                        \
    if (const CUresult cuda_code_ = (call); cuda_code_ != CUDA_SUCCESS)       \
      return tl::unexpected<::warpsmith::CudaFailure>({cuda_code_, (doing)}); \
  } while (false)
// The same for a CudaResult or CudaStatus.
#define CUDA_RETURN_IF_FAILED(expression)                                               \
  do {                                                                                  \
    if (auto cuda_result_ = (expression); !cuda_result_)                                \
      return tl::unexpected<::warpsmith::CudaFailure>(std::move(cuda_result_.error())); \
  } while (false)
