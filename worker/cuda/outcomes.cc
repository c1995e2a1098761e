#include "worker/cuda/outcomes.h"

#include <fmt/format.h>

namespace warpsmith {

bool IsDeviceFault(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK: return true;
    default: return false;
  }
}

Outcome OutcomeOf(const CudaFailure& failure, CudaMoment moment) {
  const std::string name = CudaErrorName(failure.code);
  const std::string detail = fmt::format("{}: {}", failure.doing, name);
  if (IsDeviceFault(failure.code)) return DeviceFault{name};
  switch (failure.code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED: return Infrastructure{InfrastructureKind::kDeviceSick, detail};
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
      return Infrastructure{InfrastructureKind::kDeviceLost, detail};
    case CUDA_ERROR_OUT_OF_MEMORY:
      // The buffers are ours; what a module or a launch takes beyond them is the candidate's.
      if (moment == CudaMoment::kMemory)
        return Infrastructure{InfrastructureKind::kOutOfMemory, detail};
      return ResourceError{fmt::format("device memory: {}", failure.doing)};
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return Infrastructure{InfrastructureKind::kUnsupportedArchitecture, detail};
    default: break;
  }
  if (moment == CudaMoment::kLaunch) return LaunchError{detail};
  if (moment == CudaMoment::kLoad) return Infrastructure{InfrastructureKind::kInternal, detail};
  return Infrastructure{InfrastructureKind::kDriver, detail};
}

}  // namespace warpsmith
