// A timing with its evidence. Times are microseconds of one run of the whole plan.
#pragma once

#include <string>
#include <vector>

#include "common/model/device.h"
#include "common/model/task.h"

namespace warpsmith {

enum class Validity { kValid, kNoisy, kThrottled, kClocksUnverified };
enum class Comparison { kFaster, kSlower, kTie };

const char* ToString(Validity validity);
const char* ToString(Comparison comparison);

struct Measurement {
  Case timed_case;
  std::string baseline = "eager";
  DeviceKind device_kind = DeviceKind::kHost;
  ClockMode clock_mode = ClockMode::kObserved;
  Validity validity = Validity::kValid;

  double candidate_us = 0;  // medians over blocks
  double baseline_us = 0;
  double speedup = 0;      // exp(median log ratio); baseline by candidate
  double speedup_low = 0;  // bootstrap interval
  double speedup_high = 0;
  double confidence = 0.95;
  double noise = 0;  // relative half-width of baseline against itself; 0: unknown
  Comparison comparison = Comparison::kTie;
  double floor_us = 0;  // 0: unknown
  bool below_floor = false;
  double warm_candidate_us = 0;  // recorded, never ranked; 0: not measured
  double sm_clock_mhz = 0;       // 0: unknown

  // One entry a block, in the order they ran.
  std::vector<double> candidate_block_us;
  std::vector<double> baseline_block_us;

  bool operator==(const Measurement&) const = default;
};

}  // namespace warpsmith
