// Facts about a device that plans, policies and dispatch may use.
#pragma once

#include <cstdint>
#include <string>

#include "common/model/dtype.h"

namespace warpsmith {

enum class ClockMode { kLocked, kObserved };

struct DeviceFacts {
  DeviceKind kind = DeviceKind::kHost;
  int index = 0;             // ordinal on its host
  std::string name;          // "NVIDIA H200", "AMD EPYC ..."
  std::string uuid;          // empty where the device kind has none
  std::string architecture;  // "sm_90a", "x86_64"
  int sm_count = 1;          // host: cores of the lane
  int warp_size = 32;
  int max_threads_per_block = 1024;
  int64_t max_shared_bytes = 48 * 1024;  // opt-in limit of one block
  int64_t reserved_shared_bytes = 0;     // taken by the system from each block
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  double peak_bandwidth_bytes_per_s = 0;  // by clock and bus width; 0: unknown
  double peak_flops_per_s = 0;            // 0: unknown
  ClockMode clock_mode = ClockMode::kObserved;
  std::string driver;  // version texts, for the record
  std::string toolkit;

  bool operator==(const DeviceFacts&) const = default;
};

}  // namespace warpsmith
