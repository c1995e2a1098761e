// Numbers as the bytes of a kernel parameter. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "common/model/plan.h"

namespace warpsmith {

using ScalarBits = std::array<uint8_t, 8>;

// A whole number as `type`, little endian. kInvalidInput where the type cannot hold it exactly
// (bool: 0 and 1; floats: whole numbers within their mantissa).
Result<ScalarBits> IntegerBits(int64_t value, ParameterType type);

// A real number as `type`: floats round to nearest even and must not overflow; whole-number types
// take whole numbers only.
Result<ScalarBits> RealBits(double value, ParameterType type);

// The parameter that holds one element of this dtype.
ParameterType ParameterTypeOf(Dtype dtype);

// Round to nearest even; overflow gives infinity.
uint16_t ToHalfBits(double value);
uint16_t ToBFloat16Bits(double value);

}  // namespace warpsmith
