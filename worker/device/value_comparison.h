// The comparison of a floating output in one pass, on the host. Pure.
#pragma once

#include <cstdint>

#include "common/model/dtype.h"
#include "worker/device/compare_value.h"

namespace warpsmith {

// A dense tensor of a floating dtype, seen as a line of elements.
struct FloatingView {
  const void* data = nullptr;  // aligned to its elements; unused for no elements
  Dtype dtype = Dtype::kFloat32;
  int64_t elements = 0;
};

// Both have as many elements.
ValueSums CompareOnHost(const FloatingView& got, const FloatingView& expected,
                        const ValueRule& rule);

}  // namespace warpsmith
