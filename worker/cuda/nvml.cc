#include "worker/cuda/nvml.h"

#include <dlfcn.h>

namespace warpsmith {
namespace {

using NvmlDevice = struct NvmlDeviceTag*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;  // NVML_CLOCK_SM

// The calls that we make, with NVML's C types.
struct Nvml {
  int (*Init)() = nullptr;
  int (*SystemGetDriverVersion)(char*, unsigned) = nullptr;
  int (*DeviceGetHandleByPciBusId)(const char*, NvmlDevice*) = nullptr;
  int (*DeviceGetMaxClockInfo)(NvmlDevice, int, unsigned*) = nullptr;
  bool ready = false;
};

template <typename F>
bool Bind(void* library, const char* symbol, F& function) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  return function != nullptr;
}

Nvml Open() {
  Nvml nvml;
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nvml;
  nvml.ready = Bind(library, "nvmlInit_v2", nvml.Init) &&
               Bind(library, "nvmlSystemGetDriverVersion", nvml.SystemGetDriverVersion) &&
               Bind(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.DeviceGetHandleByPciBusId) &&
               Bind(library, "nvmlDeviceGetMaxClockInfo", nvml.DeviceGetMaxClockInfo) &&
               nvml.Init() == kSuccess;
  return nvml;
}

}  // namespace

std::optional<NvmlFacts> ReadNvml(const std::string& pci_bus_id) {
  static const Nvml nvml = Open();
  if (!nvml.ready) return std::nullopt;
  NvmlDevice device = nullptr;
  if (nvml.DeviceGetHandleByPciBusId(pci_bus_id.c_str(), &device) != kSuccess) return std::nullopt;
  NvmlFacts facts;
  char version[96] = {};
  if (nvml.SystemGetDriverVersion(version, sizeof(version) - 1) == kSuccess)
    facts.driver_version = version;
  unsigned mhz = 0;
  if (nvml.DeviceGetMaxClockInfo(device, kClockSm, &mhz) == kSuccess)
    facts.max_sm_clock_mhz = static_cast<int>(mhz);
  return facts;
}

}  // namespace warpsmith
