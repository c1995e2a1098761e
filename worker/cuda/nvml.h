// NVML, opened at run time with our own few declarations (nvml.h is in no package that we use).
// Devices are found by PCI bus id, never by index: NVML counts devices that CUDA_VISIBLE_DEVICES
// hides.
#pragma once

#include <optional>
#include <string>

namespace warpsmith {

struct NvmlFacts {
  std::string driver_version;  // "580.159.04"
  int max_sm_clock_mhz = 0;    // 0: unknown
};

// What NVML knows of the device at "0000:3b:00.0"; nothing where NVML is not there or does not know
// it. Any thread.
std::optional<NvmlFacts> ReadNvml(const std::string& pci_bus_id);

}  // namespace warpsmith
