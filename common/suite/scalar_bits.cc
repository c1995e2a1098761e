#include "common/suite/scalar_bits.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace warpsmith {
namespace {

template <typename T>
ScalarBits Bytes(T value) {
  ScalarBits bits{};
  std::memcpy(bits.data(), &value, sizeof value);
  return bits;
}

tl::unexpected<Error> DoesNotFit(double value, ParameterType type) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{} does not fit into {}", value, ToString(type)));
}

template <typename T>
Result<ScalarBits> Whole(int64_t value, ParameterType type) {
  const bool fits =
      std::is_same_v<T, uint64_t>
          ? value >= 0
          : value >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
                (sizeof(T) == 8 || value <= static_cast<int64_t>(std::numeric_limits<T>::max()));
  if (!fits)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} does not fit into {}", value, ToString(type)));
  return Bytes(static_cast<T>(value));
}

// An IEEE-like format of 16 bits, subnormals included.
uint16_t ToSmallFloat(double value, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (exponent_bits + mantissa_bits) : 0;
  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value))
    return static_cast<uint16_t>(sign | infinity | (1u << (mantissa_bits - 1)));
  const double size = std::fabs(value);
  if (size == 0) return static_cast<uint16_t>(sign);
  int exponent = std::isinf(size) ? std::numeric_limits<int>::max() / 2 : std::ilogb(size);
  if (exponent > bias) return static_cast<uint16_t>(sign | infinity);
  exponent = std::max(exponent, 1 - bias);  // below: subnormal, of a fixed spacing
  // Units of the last place; nearbyint rounds half to even in the default mode.
  auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, mantissa_bits - exponent)));
  // A subnormal that rounds up to 2^mantissa, and a mantissa that carries, both become the next
  // exponent by plain addition.
  const uint32_t hidden = 1u << mantissa_bits;
  const uint32_t bits =
      units < hidden ? units
                     : (static_cast<uint32_t>(exponent + bias) << mantissa_bits) + units - hidden;
  return static_cast<uint16_t>(sign | std::min(bits, infinity));
}

}  // namespace

ParameterType ParameterTypeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64: return ParameterType::kFloat64;
    case Dtype::kFloat32: return ParameterType::kFloat32;
    case Dtype::kFloat16: return ParameterType::kFloat16;
    case Dtype::kBFloat16: return ParameterType::kBFloat16;
    case Dtype::kInt64: return ParameterType::kInt64;
    case Dtype::kInt32: return ParameterType::kInt32;
    case Dtype::kInt16: return ParameterType::kInt16;
    case Dtype::kInt8: return ParameterType::kInt8;
    case Dtype::kUint8: return ParameterType::kUint8;
    case Dtype::kBool: return ParameterType::kBool;
  }
  return ParameterType::kUnsupported;
}

uint16_t ToHalfBits(double value) { return ToSmallFloat(value, 5, 10); }
uint16_t ToBFloat16Bits(double value) { return ToSmallFloat(value, 8, 7); }

Result<ScalarBits> IntegerBits(int64_t value, ParameterType type) {
  switch (type) {
    case ParameterType::kInt8: return Whole<int8_t>(value, type);
    case ParameterType::kUint8: return Whole<uint8_t>(value, type);
    case ParameterType::kInt16: return Whole<int16_t>(value, type);
    case ParameterType::kUint16: return Whole<uint16_t>(value, type);
    case ParameterType::kInt32: return Whole<int32_t>(value, type);
    case ParameterType::kUint32: return Whole<uint32_t>(value, type);
    case ParameterType::kInt64: return Whole<int64_t>(value, type);
    case ParameterType::kUint64: return Whole<uint64_t>(value, type);
    case ParameterType::kBool:
      if (value != 0 && value != 1) return DoesNotFit(static_cast<double>(value), type);
      return Bytes(static_cast<uint8_t>(value));
    default: break;
  }
  const int mantissa = type == ParameterType::kFloat64    ? 53
                       : type == ParameterType::kFloat32  ? 24
                       : type == ParameterType::kFloat16  ? 11
                       : type == ParameterType::kBFloat16 ? 8
                                                          : 0;
  // Compared as whole numbers: 2^53 + 1 would be 2^53 as a double.
  if (value > int64_t{1} << mantissa || value < -(int64_t{1} << mantissa))
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} does not fit into {}", value, ToString(type)));
  return RealBits(static_cast<double>(value), type);
}

Result<ScalarBits> RealBits(double value, ParameterType type) {
  switch (type) {
    case ParameterType::kFloat64: return Bytes(value);
    case ParameterType::kFloat32: {
      const auto narrow = static_cast<float>(value);
      if (std::isinf(narrow) && !std::isinf(value)) return DoesNotFit(value, type);
      return Bytes(narrow);
    }
    case ParameterType::kFloat16: {
      const uint16_t bits = ToHalfBits(value);
      if ((bits & 0x7fff) == 0x7c00 && !std::isinf(value)) return DoesNotFit(value, type);
      return Bytes(bits);
    }
    case ParameterType::kBFloat16: {
      const uint16_t bits = ToBFloat16Bits(value);
      if ((bits & 0x7fff) == 0x7f80 && !std::isinf(value)) return DoesNotFit(value, type);
      return Bytes(bits);
    }
    case ParameterType::kPointer:
    case ParameterType::kUnsupported:
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} cannot become a {}", value, ToString(type)));
    default: break;
  }
  if (std::trunc(value) != value || std::fabs(value) >= 9223372036854775808.0)
    return DoesNotFit(value, type);
  return IntegerBits(static_cast<int64_t>(value), type);
}

}  // namespace warpsmith
