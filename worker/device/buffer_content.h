// What every oracle's device writes into buffers: poison, and content as content_value.h takes it.
// Pure.
#pragma once

#include <cstdint>

#include "worker/device/content_value.h"
#include "worker/device/oracle_device.h"

namespace warpsmith {

// The 32-bit word that Poison writes everywhere: each half is a NaN as float16 and bfloat16, the
// word one as float32, two of them one as float64; 900 words.
inline uint32_t PoisonWord(uint32_t pattern) {
  const auto half = [](uint32_t choice) {  // 0x7FF1..0x7FFF or 0xFFF1..0xFFFF
    return (choice % 2 == 0 ? 0x7FF0u : 0xFFF0u) | (1 + choice / 2 % 15);
  };
  return half(pattern % 30) << 16 | half(pattern / 30 % 30);
}

inline ContentNumbers NumbersOf(const Content& content) {
  return {.seed = content.seed,
          .case_number = content.case_number,
          .tensor_number = content.tensor_number,
          .kind = static_cast<int>(content.init.kind),
          .unused = 0,
          .last_dim = content.last_dim,
          .bound = content.bound,
          .scale = content.init.scale,
          .low = content.init.low,
          .high = content.init.high,
          .value = content.init.value};
}

}  // namespace warpsmith
