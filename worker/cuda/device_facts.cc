#include "worker/cuda/device_facts.h"

#include <fmt/format.h>

#include <optional>

#include "worker/cuda/driver.h"
#include "worker/cuda/nvml.h"
#include "worker/cuda/nvrtc.h"

namespace warpsmith {
namespace {

std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

CudaResult<DeviceFacts> Read(const Driver& driver, int index) {
  CUdevice device = 0;
  CUDA_TRY(driver.cuDeviceGet(&device, index), fmt::format("finding CUDA device {}", index));
  const std::string doing = fmt::format("reading CUDA device {}", index);
  const auto attribute = [&](CUdevice_attribute name) {
    int value = 0;
    return driver.cuDeviceGetAttribute(&value, name, device) == CUDA_SUCCESS ? value : 0;
  };

  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  facts.index = index;
  char name[256] = {};
  CUDA_TRY(driver.cuDeviceGetName(name, sizeof(name) - 1, device), doing);
  facts.name = name;
  CUuuid uuid{};
  CUDA_TRY(driver.cuDeviceGetUuid(&uuid, device), doing);
  facts.uuid = UuidText(uuid);
  size_t memory = 0;
  CUDA_TRY(driver.cuDeviceTotalMem(&memory, device), doing);
  facts.memory_bytes = static_cast<int64_t>(memory);

  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.architecture = fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
  facts.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  facts.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  facts.max_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.reserved_shared_bytes = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  facts.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  // Double data rate: two transfers a clock on each wire.
  facts.peak_bandwidth_bytes_per_s = 2.0 * 1e3 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                                     (attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0);
  double clock_hz = 1e3 * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);

  int version = 0;
  CUDA_TRY(driver.cuDriverGetVersion(&version), doing);
  facts.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  char bus_id[32] = {};
  if (driver.cuDeviceGetPCIBusId(bus_id, sizeof(bus_id), device) == CUDA_SUCCESS) {
    if (const auto nvml = ReadNvml(bus_id)) {
      if (!nvml->driver_version.empty()) facts.driver += ", driver " + nvml->driver_version;
      if (nvml->max_sm_clock_mhz > 0) clock_hz = 1e6 * nvml->max_sm_clock_mhz;
    }
  }
  facts.peak_flops_per_s = PeakFlops(major, minor, facts.sm_count, clock_hz);
  facts.clock_mode = ClockMode::kObserved;
  if (const auto nvrtc = LoadNvrtc()) facts.toolkit = "NVRTC " + (*nvrtc)->version;
  return facts;
}

}  // namespace

Result<DeviceFacts> ReadCudaDeviceFacts(int index) {
  ASSIGN_OR_RETURN(const Driver* driver, LoadDriver());
  auto facts = Read(*driver, index);
  if (!facts) return tl::unexpected<Error>(ToError(facts.error()));
  return std::move(*facts);
}

CudaDevices ListCudaDevices() {
  CudaDevices found;
  const auto driver = LoadDriver();
  if (!driver) {
    found.why_none = driver.error().message;
    return found;
  }
  int count = 0;
  if (const CUresult code = (*driver)->cuDeviceGetCount(&count); code != CUDA_SUCCESS) count = 0;
  for (int index = 0; index < count; ++index) {
    auto facts = ReadCudaDeviceFacts(index);
    if (facts)
      found.devices.push_back(std::move(*facts));
    else
      found.why_none = facts.error().message;
  }
  if (count == 0) found.why_none = "the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES?)";
  return found;
}

double PeakFlops(int compute_major, int compute_minor, int sm_count, double clock_hz) {
  double multiply_adds = 0;  // a clock and SM
  if (compute_major == 8) multiply_adds = compute_minor == 0 ? 1024 : 512;
  if (compute_major == 9) multiply_adds = 2048;
  if (compute_major == 10) multiply_adds = 4096;
  if (compute_major == 12) multiply_adds = 512;
  return 2 * multiply_adds * sm_count * clock_hz;
}

}  // namespace warpsmith
