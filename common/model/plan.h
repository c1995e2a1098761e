// Limits of candidates and their plans, and what follows from a plan's parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/model/dtype.h"
#include "schema/plan.h"

namespace warpsmith {

// Limits of the contract; a plan beyond them is rejected.
constexpr size_t kMaxCandidateBytes = 256 * 1024;
constexpr size_t kMaxPlanBytes = 16 * 1024;
constexpr size_t kMaxPlanDepth = 8;
constexpr size_t kMaxLaunches = 16;
constexpr size_t kMaxArguments = 64;

size_t SizeOf(ParameterType type);  // bytes; 0 where it cannot be handed over

inline int64_t ElementsOf(const BufferSpec& buffer) {
  int64_t n = 1;
  for (int64_t size : buffer.shape) n *= size;
  return n;
}
inline uint64_t BytesOf(const BufferSpec& buffer) {
  return static_cast<uint64_t>(ElementsOf(buffer)) * SizeOf(buffer.dtype);
}

}  // namespace warpsmith
