#include "worker/host/content_fill.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/base/philox.h"
#include "worker/device/buffer_content.h"

namespace warpsmith {
namespace {

constexpr int kBatch = 256;
constexpr double kTwoToMinus32 = 1.0 / 4294967296.0;

#define WARPSMITH_INLINE inline __attribute__((always_inline))

// Words 0 and 1 of the Philox blocks of elements first .. first + kBatch - 1.
struct Words {
  uint32_t word0[kBatch];
  uint32_t word1[kBatch];
};

WARPSMITH_INLINE void DrawWords(const ContentNumbers& c, uint64_t first, Words& words) {
  uint32_t c2[kBatch], c3[kBatch];
  uint32_t* c0 = words.word0;
  uint32_t* c1 = words.word1;
  for (int i = 0; i < kBatch; ++i) {
    const uint64_t index = first + static_cast<uint64_t>(i);
    c0[i] = static_cast<uint32_t>(index);
    c1[i] = static_cast<uint32_t>(index >> 32);
    c2[i] = c.tensor_number;
    c3[i] = c.case_number;
  }
  auto k0 = static_cast<uint32_t>(c.seed), k1 = static_cast<uint32_t>(c.seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (int i = 0; i < kBatch; ++i) PhiloxRound(c0[i], c1[i], c2[i], c3[i], k0, k1);
    k0 += kPhiloxWeyl0;
    k1 += kPhiloxWeyl1;
  }
}

// ln(x) of a normal x > 0: x = m 2^e with m near 1, ln m = 2 artanh((m - 1) / (m + 1)) as a series.
WARPSMITH_INLINE double Log(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  // The exponent as a double, by way of 2^52's mantissa: CPUs before AVX-512 convert no int64.
  double e = std::bit_cast<double>(bits >> 52 | 0x4330000000000000) - (4503599627370496.0 + 1023);
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  const bool high = m > 1.4142135623730951;
  m = high ? m * 0.5 : m;
  e = high ? e + 1 : e;
  const double f = (m - 1) / (m + 1), s = f * f;
  const double series =
      1 +
      s * (1. / 3 +
           s * (1. / 5 +
                s * (1. / 7 + s * (1. / 9 + s * (1. / 11 +
                                                 s * (1. / 13 + s * (1. / 15 + s * (1. / 17))))))));
  return e * 0.6931471805599453 + 2 * f * series;
}

// cos(2 pi u), 0 <= u < 1: a sine of at most a quarter turn, as its Taylor series.
WARPSMITH_INLINE double CosTurns(double u) {
  const double y = 6.283185307179586 * (std::fabs(u - 0.5) - 0.25), s = y * y;
  return y * (1 + s * (-1. / 6 +
                       s * (1. / 120 +
                            s * (-1. / 5040 +
                                 s * (1. / 362880 +
                                      s * (-1. / 39916800 +
                                           s * (1. / 6227020800 +
                                                s * (-1. / 1307674368000 +
                                                     s * (1. / 355687428096000 +
                                                          s * (-1. / 121645100408832000))))))))));
}

WARPSMITH_INLINE void DrawBatch(const ContentNumbers& c, uint64_t first, double* values) {
  const auto kind = static_cast<InitKind>(c.kind);
  if (kind != InitKind::kNormal && kind != InitKind::kUniform) {
    for (int i = 0; i < kBatch; ++i) values[i] = ContentValue(c, first + static_cast<uint64_t>(i));
    return;
  }
  Words words;
  DrawWords(c, first, words);
  if (kind == InitKind::kUniform) {
    for (int i = 0; i < kBatch; ++i)
      values[i] = c.low + (c.high - c.low) * (words.word0[i] * kTwoToMinus32);
    return;
  }
  for (int i = 0; i < kBatch; ++i) {
    const double u0 = (words.word0[i] + 0.5) * kTwoToMinus32, u1 = words.word1[i] * kTwoToMinus32;
    values[i] = c.scale * std::sqrt(-2.0 * Log(u0)) * CosTurns(u1);
  }
}

void DrawBatchPlain(const ContentNumbers& c, uint64_t first, double* values) {
  DrawBatch(c, first, values);
}
// The same arithmetic, up to 16 at a time; never contracted to FMA, so the same bits.
__attribute__((target("avx2"))) void DrawBatchAvx2(const ContentNumbers& c, uint64_t first,
                                                   double* values) {
  DrawBatch(c, first, values);
}
__attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512"))) void DrawBatchAvx512(
    const ContentNumbers& c, uint64_t first, double* values) {
  DrawBatch(c, first, values);
}

auto WidestDraw() {
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return DrawBatchAvx512;
  return __builtin_cpu_supports("avx2") ? DrawBatchAvx2 : DrawBatchPlain;
}

// float32 -> float16 or bfloat16, to nearest even.
uint16_t ToHalf(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = word >> 16 & 0x8000u;
  uint32_t magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // past 65504
  if (magnitude < 0x38800000u)  // subnormal: adding 0.5 aligns and rounds the bits
    magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  else
    magnitude = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  return static_cast<uint16_t>(sign | magnitude);
}
uint16_t ToBFloat16(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}

template <typename T, typename Convert>
void Draw(void* data, const Content& content, Convert convert) {
  const ContentNumbers numbers = NumbersOf(content);
  const auto draw = WidestDraw();
  auto* out = static_cast<T*>(data);
  double values[kBatch];
  for (int64_t first = 0; first < content.elements; first += kBatch) {
    draw(numbers, static_cast<uint64_t>(first), values);
    const auto count = std::min<int64_t>(kBatch, content.elements - first);
    for (int64_t i = 0; i < count; ++i) out[first + i] = convert(values[i]);
  }
}

template <typename T>
void DrawAs(void* data, const Content& content) {
  Draw<T>(data, content, [](double v) { return static_cast<T>(v); });
}

}  // namespace

void FillContent(void* data, const Content& content) {
  switch (content.dtype) {
    case Dtype::kFloat64: return DrawAs<double>(data, content);
    case Dtype::kFloat32: return DrawAs<float>(data, content);
    case Dtype::kFloat16:
      return Draw<uint16_t>(data, content, [](double v) { return ToHalf(static_cast<float>(v)); });
    case Dtype::kBFloat16:
      return Draw<uint16_t>(data, content,
                            [](double v) { return ToBFloat16(static_cast<float>(v)); });
    case Dtype::kInt64: return DrawAs<int64_t>(data, content);
    case Dtype::kInt32: return DrawAs<int32_t>(data, content);
    case Dtype::kInt16: return DrawAs<int16_t>(data, content);
    case Dtype::kInt8: return DrawAs<int8_t>(data, content);
    case Dtype::kUint8: return DrawAs<uint8_t>(data, content);
    case Dtype::kBool: return Draw<uint8_t>(data, content, [](double v) { return v != 0 ? 1 : 0; });
  }
}

}  // namespace warpsmith
