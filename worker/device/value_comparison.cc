#include "worker/device/value_comparison.h"

#include <bit>

#include "common/base/check.h"

namespace warpsmith {
namespace {

// Sums kept apart, so that neighbours are independent and the compiler may take several at a time.
constexpr int kLanes = 8;

struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

inline double Widened(double x) { return x; }
inline double Widened(float x) { return static_cast<double>(x); }
inline double Widened(Brain x) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16));
}
inline double Widened(Half x) {
  // Moved into a float's places the exponent is 112 too small; infinities and NaN have all its
  // bits.
  const uint32_t magnitude = (x.bits & 0x7FFFu) << 13, sign = (x.bits & 0x8000u) << 16;
  const float small = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t bits =
      magnitude >= 0x0F800000u ? magnitude | 0x7F800000u : std::bit_cast<uint32_t>(small);
  return static_cast<double>(std::bit_cast<float>(bits | sign));
}

template <typename Got, typename Expected>
ValueSums Compare(const Got* got, const Expected* expected, int64_t elements,
                  const ValueRule& rule) {
  ValueSums lanes[kLanes];
  int64_t i = 0;
  for (; i + kLanes <= elements; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane)
      CompareValue(rule, Widened(expected[i + lane]), Widened(got[i + lane]), lanes[lane]);
  for (; i < elements; ++i)
    CompareValue(rule, Widened(expected[i]), Widened(got[i]), lanes[i % kLanes]);
  ValueSums sums;
  for (const ValueSums& lane : lanes) AddSums(sums, lane);
  return sums;
}

template <typename Got>
ValueSums CompareWith(const Got* got, const FloatingView& expected, const ValueRule& rule) {
  const int64_t n = expected.elements;
  switch (expected.dtype) {
    case Dtype::kFloat64: return Compare(got, static_cast<const double*>(expected.data), n, rule);
    case Dtype::kFloat32: return Compare(got, static_cast<const float*>(expected.data), n, rule);
    case Dtype::kFloat16: return Compare(got, static_cast<const Half*>(expected.data), n, rule);
    case Dtype::kBFloat16: return Compare(got, static_cast<const Brain*>(expected.data), n, rule);
    default: CHECK(false, "only floating values are compared by value");
  }
}

}  // namespace

ValueSums CompareOnHost(const FloatingView& got, const FloatingView& expected,
                        const ValueRule& rule) {
  CHECK(got.elements == expected.elements, "one expected value an element");
  switch (got.dtype) {
    case Dtype::kFloat64: return CompareWith(static_cast<const double*>(got.data), expected, rule);
    case Dtype::kFloat32: return CompareWith(static_cast<const float*>(got.data), expected, rule);
    case Dtype::kFloat16: return CompareWith(static_cast<const Half*>(got.data), expected, rule);
    case Dtype::kBFloat16: return CompareWith(static_cast<const Brain*>(got.data), expected, rule);
    default: CHECK(false, "only floating values are compared by value");
  }
}

}  // namespace warpsmith
