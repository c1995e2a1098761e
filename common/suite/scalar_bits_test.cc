#include "common/suite/scalar_bits.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace warpsmith {
namespace {

template <typename T>
T As(const Result<ScalarBits>& bits) {
  EXPECT_TRUE(bits) << (bits ? "" : bits.error().message);
  T value{};
  if (bits) std::memcpy(&value, bits->data(), sizeof value);
  return value;
}

TEST(ScalarBits, WholeNumbersFitExactlyOrAreRefused) {
  EXPECT_EQ(As<int32_t>(IntegerBits(-5, ParameterType::kInt32)), -5);
  EXPECT_FALSE(IntegerBits(int64_t{1} << 31, ParameterType::kInt32));
  EXPECT_EQ(As<uint32_t>(IntegerBits(int64_t{1} << 31, ParameterType::kUint32)), 1u << 31);
  EXPECT_FALSE(IntegerBits(-1, ParameterType::kUint64));
  EXPECT_EQ(As<uint64_t>(IntegerBits(INT64_MAX, ParameterType::kUint64)), uint64_t{INT64_MAX});
  EXPECT_EQ(As<int64_t>(IntegerBits(INT64_MIN, ParameterType::kInt64)), INT64_MIN);
  EXPECT_FALSE(IntegerBits(128, ParameterType::kInt8));
  EXPECT_FALSE(IntegerBits(2, ParameterType::kBool));
  EXPECT_EQ(As<float>(IntegerBits(1 << 24, ParameterType::kFloat32)), 16777216.0f);
  EXPECT_FALSE(IntegerBits((1 << 24) + 1, ParameterType::kFloat32));
  EXPECT_EQ(As<double>(IntegerBits(int64_t{1} << 53, ParameterType::kFloat64)), 9007199254740992.0);
  EXPECT_FALSE(IntegerBits((int64_t{1} << 53) + 1, ParameterType::kFloat64));
  EXPECT_FALSE(IntegerBits(-(int64_t{1} << 53) - 1, ParameterType::kFloat64));
  EXPECT_FALSE(IntegerBits(INT64_MIN, ParameterType::kFloat64));
  EXPECT_FALSE(IntegerBits(1, ParameterType::kPointer));
}

TEST(ScalarBits, RealNumbersRoundButDoNotOverflow) {
  EXPECT_EQ(As<float>(RealBits(0.1, ParameterType::kFloat32)), 0.1f);
  EXPECT_FALSE(RealBits(1e39, ParameterType::kFloat32));
  EXPECT_FALSE(RealBits(65520, ParameterType::kFloat16));
  EXPECT_EQ(As<int32_t>(RealBits(3.0, ParameterType::kInt32)), 3);
  EXPECT_FALSE(RealBits(3.5, ParameterType::kInt32));
  EXPECT_FALSE(RealBits(1e30, ParameterType::kInt64));
}

TEST(ScalarBits, SmallFloatsAreIeee) {
  EXPECT_EQ(ToHalfBits(1.0), 0x3c00);
  EXPECT_EQ(ToHalfBits(-2.0), 0xc000);
  EXPECT_EQ(ToHalfBits(65504), 0x7bff);
  EXPECT_EQ(ToHalfBits(65520), 0x7c00);                   // halfway above the largest: infinity
  EXPECT_EQ(ToHalfBits(5.960464477539063e-08), 0x0001);   // smallest subnormal
  EXPECT_EQ(ToHalfBits(2.980232238769531e-08), 0x0000);   // half of it: to even
  EXPECT_EQ(ToHalfBits(6.103515625e-05), 0x0400);         // smallest normal
  EXPECT_EQ(ToHalfBits(6.097555160522461e-05), 0x03ff);   // largest subnormal
  EXPECT_EQ(ToHalfBits(6.1005353927612305e-05), 0x0400);  // halfway between them: to even
  EXPECT_EQ(ToHalfBits(1.00048828125), 0x3c00);           // halfway: to even
  EXPECT_EQ(ToHalfBits(1.00146484375), 0x3c02);
  EXPECT_EQ(ToBFloat16Bits(1.5), 0x3fc0);
  EXPECT_EQ(ToBFloat16Bits(0.1), 0x3dcd);
  EXPECT_EQ(ToBFloat16Bits(-0.0), 0x8000);
  EXPECT_EQ(ToBFloat16Bits(std::numeric_limits<double>::infinity()), 0x7f80);
  EXPECT_EQ(ToHalfBits(std::numeric_limits<double>::quiet_NaN()) & 0x7e00, 0x7e00);
}

}  // namespace
}  // namespace warpsmith
