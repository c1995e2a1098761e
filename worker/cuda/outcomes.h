// What a driver's error means for a candidate. Pure.
#pragma once

#include "common/model/outcome.h"
#include "worker/cuda/driver.h"

namespace warpsmith {

// Where the error came up.
enum class CudaMoment {
  kLoad,    // loading the candidate's module
  kMemory,  // mapping buffers that the oracle lent
  kLaunch,  // a launch call returned it
  kRun,     // a wait for the device returned it
};

// Errors that leave the context unusable and come from device code that ran.
bool IsDeviceFault(CUresult code);

// DeviceFault, LaunchError, ResourceError or Infrastructure.
Outcome OutcomeOf(const CudaFailure& failure, CudaMoment moment);

}  // namespace warpsmith
