// Host device: CUDA's mathematics in terms of libm. Of the fast-math intrinsics, __expf and
// __tanhf are short formulas that a compiler turns into vector code, as the real ones are short
// instructions; the others are exact here.
#pragma once

#include "std.h"

#define WARPSMITH_MATH1(name)                                               \
  extern "C" float name##f(float) noexcept;                                 \
  extern "C" double name(double) noexcept;                                  \
  inline float name(float x) { return name##f(x); }                         \
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> \
  inline double name(T x) {                                                 \
    return name(static_cast<double>(x));                                    \
  }                                                                         \
  namespace std {                                                           \
  using ::name;                                                             \
  using ::name##f;                                                          \
  }
#define WARPSMITH_MATH2(name)                                                                 \
  extern "C" float name##f(float, float) noexcept;                                            \
  extern "C" double name(double, double) noexcept;                                            \
  inline float name(float x, float y) { return name##f(x, y); }                               \
  template <typename A, typename B,                                                           \
            typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && \
                                        !std::is_same_v<A, B>>>                               \
  inline double name(A x, B y) {                                                              \
    return name(static_cast<double>(x), static_cast<double>(y));                              \
  }                                                                                           \
  namespace std {                                                                             \
  using ::name;                                                                               \
  using ::name##f;                                                                            \
  }

WARPSMITH_MATH1(exp)
WARPSMITH_MATH1(exp2)
WARPSMITH_MATH1(expm1) WARPSMITH_MATH1(log) WARPSMITH_MATH1(log2) WARPSMITH_MATH1(log10)
    WARPSMITH_MATH1(log1p) WARPSMITH_MATH1(sqrt) WARPSMITH_MATH1(cbrt) WARPSMITH_MATH1(sin)
        WARPSMITH_MATH1(cos) WARPSMITH_MATH1(tan) WARPSMITH_MATH1(asin) WARPSMITH_MATH1(acos)
            WARPSMITH_MATH1(atan) WARPSMITH_MATH1(sinh) WARPSMITH_MATH1(cosh) WARPSMITH_MATH1(tanh)
                WARPSMITH_MATH1(asinh) WARPSMITH_MATH1(acosh) WARPSMITH_MATH1(atanh)
                    WARPSMITH_MATH1(erf) WARPSMITH_MATH1(erfc) WARPSMITH_MATH1(tgamma)
                        WARPSMITH_MATH1(lgamma) WARPSMITH_MATH1(floor) WARPSMITH_MATH1(ceil)
                            WARPSMITH_MATH1(trunc) WARPSMITH_MATH1(round) WARPSMITH_MATH1(rint)
                                WARPSMITH_MATH1(nearbyint) WARPSMITH_MATH1(fabs)
                                    WARPSMITH_MATH1(logb)
// Inline, for libm's are calls: a NaN loses against a number. The first comparison is one
// instruction, without a branch; the second is always false where the operands are numbers.
#define WARPSMITH_GREATER(type, name, compare)                                              \
  extern "C" inline __attribute__((gnu_inline, always_inline)) type name(type a,            \
                                                                         type b) noexcept { \
    const type chosen = a compare b ? a : b;                                                \
    return __builtin_expect(b != b, 0) ? a : chosen;                                        \
  }
                                        WARPSMITH_GREATER(float, fmaxf,
                                                          >) WARPSMITH_GREATER(float, fminf, <)
                                            WARPSMITH_GREATER(double, fmax, >)
                                                WARPSMITH_GREATER(double, fmin, <)
                                                    WARPSMITH_MATH2(fmod) WARPSMITH_MATH2(atan2)
                                                        WARPSMITH_MATH2(hypot)
                                                            WARPSMITH_MATH2(copysign)
                                                                WARPSMITH_MATH2(fdim)
                                                                    WARPSMITH_MATH2(remainder)
                                                                        WARPSMITH_MATH2(nextafter)

                                                                            extern "C" {
  float powf(float, float) noexcept;
  double pow(double, double) noexcept;
  float fmaf(float, float, float) noexcept;
  double fma(double, double, double) noexcept;
  float ldexpf(float, int) noexcept;
  double ldexp(double, int) noexcept;
  float frexpf(float, int*) noexcept;
  double frexp(double, int*) noexcept;
  float modff(float, float*) noexcept;
  double modf(double, double*) noexcept;
  void sincosf(float, float*, float*) noexcept;
  void sincos(double, double*, double*) noexcept;
  long lrintf(float) noexcept;
  long lroundf(float) noexcept;
  int abs(int) noexcept;
  long labs(long) noexcept;
  long long llabs(long long) noexcept;
}

inline float pow(float x, float y) { return powf(x, y); }
inline float pow(float x, int y) { return powf(x, static_cast<float>(y)); }
inline double pow(double x, int y) { return pow(x, static_cast<double>(y)); }
inline double pow(int x, int y) { return pow(static_cast<double>(x), static_cast<double>(y)); }
inline double pow(float x, double y) { return pow(static_cast<double>(x), y); }
inline double pow(double x, float y) { return pow(x, static_cast<double>(y)); }
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
inline long abs(long x) { return labs(x); }
inline long long abs(long long x) { return llabs(x); }
inline void sincos(float x, float* s, float* c) { sincosf(x, s, c); }

#undef isnan
#undef isinf
#undef isfinite
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

namespace std {
using ::abs;
using ::fma;
using ::fmaf;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::ldexp;
using ::lrintf;
using ::lroundf;
using ::pow;
using ::powf;
using ::signbit;
}  // namespace std

// CUDA's min and max take any two arithmetic types; for two floats a NaN loses.
template <typename A, typename B,
          typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  const T chosen = x > y ? x : y;
  return y != y ? x : chosen;
}
template <typename A, typename B,
          typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  const T chosen = x < y ? x : y;
  return y != y ? x : chosen;
}
inline unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
inline unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float exp10f(float x) { return exp2f(x * 3.32192809488736f); }
inline double exp10(double x) { return pow(10.0, x); }
inline float fdividef(float a, float b) { return a / b; }
inline float sinpif(float x) { return static_cast<float>(sin(M_PI * static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cos(M_PI * static_cast<double>(x))); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
inline float norm4df(float a, float b, float c, float d) {
  return sqrtf(a * a + b * b + c * c + d * d);
}

// Relative error below 3e-7. exp(x) = 2^n exp(r), |r| <= log(2) / 2; the polynomial is that of
// Cephes' expf (Moshier, 1992). No branch and no call, so loops over it vectorise.
inline float __expf(float x) {
  const float low = -87.3f, high = 88.37f;
  const float bounded = x < low ? low : x > high ? high : x;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  const float n = (bounded * 1.44269504088896341f + magic) - magic;
  const float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float e = p * r * r + r + 1.0f;
  const int whole = static_cast<int>(n == n ? n : 0.0f);
  const int bits = (whole + 127) << 23;
  float scale;
  __builtin_memcpy(&scale, &bits, sizeof(scale));
  const float result = e * scale;
  return x < low ? 0.0f : x > high ? __builtin_inff() : result;
}
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
// Absolute error below 2e-7.
inline float __tanhf(float x) { return 1.0f - 2.0f / (1.0f + __expf(2.0f * x)); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

template <typename To, typename From>
inline To warpsmith_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits keep their number");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
inline int __float_as_int(float x) { return warpsmith_bits<int>(x); }
inline unsigned int __float_as_uint(float x) { return warpsmith_bits<unsigned int>(x); }
inline float __int_as_float(int x) { return warpsmith_bits<float>(x); }
inline float __uint_as_float(unsigned int x) { return warpsmith_bits<float>(x); }
inline long long __double_as_longlong(double x) { return warpsmith_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return warpsmith_bits<double>(x); }

// A GPU saturates where C++ leaves a conversion undefined.
template <typename To>
inline To warpsmith_to_whole(double x) {
  if (x != x) return 0;
  if (x <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (x >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}
#define WARPSMITH_TO_WHOLE(suffix, type)                                                     \
  inline type __float2##suffix##_rn(float x) {                                               \
    return warpsmith_to_whole<type>(rint(static_cast<double>(x)));                           \
  }                                                                                          \
  inline type __float2##suffix##_rz(float x) {                                               \
    return warpsmith_to_whole<type>(static_cast<double>(x));                                 \
  }                                                                                          \
  inline type __float2##suffix##_ru(float x) {                                               \
    return warpsmith_to_whole<type>(ceil(static_cast<double>(x)));                           \
  }                                                                                          \
  inline type __float2##suffix##_rd(float x) {                                               \
    return warpsmith_to_whole<type>(floor(static_cast<double>(x)));                          \
  }                                                                                          \
  inline type __double2##suffix##_rn(double x) { return warpsmith_to_whole<type>(rint(x)); } \
  inline type __double2##suffix##_rz(double x) { return warpsmith_to_whole<type>(x); }
WARPSMITH_TO_WHOLE(int, int)
WARPSMITH_TO_WHOLE(uint, unsigned int)
WARPSMITH_TO_WHOLE(ll, long long)
WARPSMITH_TO_WHOLE(ull, unsigned long long)
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __popc(unsigned int x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned int __brev(unsigned int x) {
  unsigned int r = 0;
  for (int i = 0; i < 32; ++i) r |= (x >> i & 1u) << (31 - i);
  return r;
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned int __umul24(unsigned int a, unsigned int b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long>(a) * b >> 32); }
inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return static_cast<unsigned int>(static_cast<unsigned long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int select) {
  const unsigned long both = static_cast<unsigned long>(b) << 32 | a;
  unsigned int r = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned int pick = select >> 4 * i & 0xf;
    unsigned int byte = static_cast<unsigned int>(both >> 8 * (pick & 7)) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << 8 * i;
  }
  return r;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<unsigned long>(high) << 32 | low) << (shift & 31) >>
                                   32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<unsigned long>(high) << 32 | low) >> (shift & 31));
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}
