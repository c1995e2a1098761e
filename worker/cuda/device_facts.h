// What this machine's CUDA devices are.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "schema/device.h"

namespace warpsmith {

// The device with this CUDA ordinal (after CUDA_VISIBLE_DEVICES). kMissing: no driver, or no such
// device. Any thread; makes no context.
Result<DeviceFacts> ReadCudaDeviceFacts(int index);

struct CudaDevices {
  std::vector<DeviceFacts> devices;
  std::string why_none;  // when there is none
};
CudaDevices ListCudaDevices();

// Dense half-precision tensor operations a second: the highest rate that a candidate could reach
// with the element types that tasks use. Multiply-adds a clock and SM by compute capability, from
// NVIDIA's architecture whitepapers (A100: 1024, AD102: 512, H100: 2048, B200: 4096); 0 where we do
// not know.
double PeakFlops(int compute_major, int compute_minor, int sm_count, double clock_hz);

}  // namespace warpsmith
