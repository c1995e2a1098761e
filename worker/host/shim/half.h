// Host device: half and bfloat16 in software; conversions round to nearest even, and arithmetic
// goes through float, which rounds once more exactly as the devices' own instructions do for + - *
// /.
#pragma once

#include "math.h"

inline float warpsmith_half_to_float(unsigned short bits) {
  const unsigned int magnitude = bits & 0x7fffu;
  // Multiplying by 2^112 moves the exponent's bias and makes subnormal numbers normal.
  unsigned int word = magnitude >= 0x7c00u
                          ? 0x7f800000u | magnitude << 13
                          : __float_as_uint(__uint_as_float(magnitude << 13) * 0x1p112f);
  return __uint_as_float(word | (bits & 0x8000u) << 16);
}

inline unsigned short warpsmith_float_to_half(float value) {
  const unsigned int word = __float_as_uint(value);
  const unsigned int sign = word >> 16 & 0x8000u;
  unsigned int magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u)
    return static_cast<unsigned short>(sign | 0x7c00u);  // rounds past 65504
  if (magnitude < 0x38800000u) {  // subnormal: the addition aligns and rounds the bits
    const unsigned int magic = 0x3f000000u;
    magnitude = __float_as_uint(__uint_as_float(magnitude) + __uint_as_float(magic)) - magic;
  } else {
    magnitude = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  }
  return static_cast<unsigned short>(sign | magnitude);
}

inline float warpsmith_bf16_to_float(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned int>(bits) << 16);
}

inline unsigned short warpsmith_float_to_bf16(float value) {
  const unsigned int word = __float_as_uint(value);
  if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}

#define WARPSMITH_NARROW(name, raw, to_float_, from_float_)                                       \
  struct raw {                                                                                    \
    unsigned short x;                                                                             \
  };                                                                                              \
  struct __attribute__((aligned(2))) name {                                                       \
    unsigned short bits;                                                                          \
    name() = default;                                                                             \
    name(float v) : bits(from_float_(v)) {}                                                       \
    name(double v) : bits(from_float_(static_cast<float>(v))) {}                                  \
    template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>                     \
    name(T v) : bits(from_float_(static_cast<float>(v))) {}                                       \
    name(raw r) : bits(r.x) {}                                                                    \
    operator float() const { return to_float_(bits); }                                            \
    operator raw() const { return raw{bits}; }                                                    \
    name& operator+=(name o) { return *this = name(float(*this) + float(o)); }                    \
    name& operator-=(name o) { return *this = name(float(*this) - float(o)); }                    \
    name& operator*=(name o) { return *this = name(float(*this) * float(o)); }                    \
    name& operator/=(name o) { return *this = name(float(*this) / float(o)); }                    \
  };                                                                                              \
  inline name operator+(name a, name b) { return name(float(a) + float(b)); }                     \
  inline name operator-(name a, name b) { return name(float(a) - float(b)); }                     \
  inline name operator*(name a, name b) { return name(float(a) * float(b)); }                     \
  inline name operator/(name a, name b) { return name(float(a) / float(b)); }                     \
  inline name operator-(name a) {                                                                 \
    name r;                                                                                       \
    r.bits = a.bits ^ 0x8000;                                                                     \
    return r;                                                                                     \
  }                                                                                               \
  inline bool operator==(name a, name b) { return float(a) == float(b); }                         \
  inline bool operator!=(name a, name b) { return float(a) != float(b); }                         \
  inline bool operator<(name a, name b) { return float(a) < float(b); }                           \
  inline bool operator>(name a, name b) { return float(a) > float(b); }                           \
  inline bool operator<=(name a, name b) { return float(a) <= float(b); }                         \
  inline bool operator>=(name a, name b) { return float(a) >= float(b); }                         \
  struct __attribute__((aligned(4))) name##2 {                                                    \
    name x, y;                                                                                    \
    name##2() = default;                                                                          \
    name##2(name a, name b) : x(a), y(b) {}                                                       \
  };                                                                                              \
  inline name##2 operator+(name##2 a, name##2 b) { return name##2(a.x + b.x, a.y + b.y); }        \
  inline name##2 operator-(name##2 a, name##2 b) { return name##2(a.x - b.x, a.y - b.y); }        \
  inline name##2 operator*(name##2 a, name##2 b) { return name##2(a.x * b.x, a.y * b.y); }        \
  inline name##2 operator/(name##2 a, name##2 b) { return name##2(a.x / b.x, a.y / b.y); }        \
  inline name __hadd(name a, name b) { return a + b; }                                            \
  inline name __hsub(name a, name b) { return a - b; }                                            \
  inline name __hmul(name a, name b) { return a * b; }                                            \
  inline name __hdiv(name a, name b) { return a / b; }                                            \
  inline name __hfma(name a, name b, name c) { return name(fmaf(float(a), float(b), float(c))); } \
  inline name __hneg(name a) { return -a; }                                                       \
  inline name __habs(name a) {                                                                    \
    a.bits &= 0x7fff;                                                                             \
    return a;                                                                                     \
  }                                                                                               \
  inline name __hmax(name a, name b) { return name(fmaxf(float(a), float(b))); }                  \
  inline name __hmin(name a, name b) { return name(fminf(float(a), float(b))); }                  \
  inline bool __heq(name a, name b) { return a == b; }                                            \
  inline bool __hne(name a, name b) { return a != b; }                                            \
  inline bool __hgt(name a, name b) { return a > b; }                                             \
  inline bool __hge(name a, name b) { return a >= b; }                                            \
  inline bool __hlt(name a, name b) { return a < b; }                                             \
  inline bool __hle(name a, name b) { return a <= b; }                                            \
  inline bool __hisnan(name a) { return a != a; }                                                 \
  inline name hexp(name a) { return name(expf(float(a))); }                                       \
  inline name hlog(name a) { return name(logf(float(a))); }                                       \
  inline name hsqrt(name a) { return name(sqrtf(float(a))); }                                     \
  inline name hrsqrt(name a) { return name(rsqrtf(float(a))); }                                   \
  inline name htanh(name a) { return name(tanhf(float(a))); }                                     \
  inline name##2 __hadd2(name##2 a, name##2 b) { return a + b; }                                  \
  inline name##2 __hsub2(name##2 a, name##2 b) { return a - b; }                                  \
  inline name##2 __hmul2(name##2 a, name##2 b) { return a * b; }                                  \
  inline name##2 __hfma2(name##2 a, name##2 b, name##2 c) {                                       \
    return name##2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                 \
  }                                                                                               \
  inline name##2 __hmax2(name##2 a, name##2 b) {                                                  \
    return name##2(__hmax(a.x, b.x), __hmax(a.y, b.y));                                           \
  }                                                                                               \
  inline name##2 __hmin2(name##2 a, name##2 b) {                                                  \
    return name##2(__hmin(a.x, b.x), __hmin(a.y, b.y));                                           \
  }

WARPSMITH_NARROW(__half, __half_raw, warpsmith_half_to_float, warpsmith_float_to_half)
WARPSMITH_NARROW(__nv_bfloat16, __nv_bfloat16_raw, warpsmith_bf16_to_float, warpsmith_float_to_bf16)
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __half half;
typedef __half2 half2;

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return float(x); }
inline __half __int2half_rn(int x) { return __half(x); }
inline int __half2int_rn(__half x) { return __float2int_rn(float(x)); }
inline int __half2int_rz(__half x) { return __float2int_rz(float(x)); }
inline __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
inline __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
inline __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
inline float2 __half22float2(__half2 v) { return make_float2(float(v.x), float(v.y)); }
inline __half2 __half2half2(__half x) { return __half2(x, x); }
inline __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return float(v.x); }
inline float __high2float(__half2 v) { return float(v.y); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline short __half_as_short(__half x) { return static_cast<short>(x.bits); }
inline __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }

inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return float(x); }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return __nv_bfloat162(x, x); }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return __nv_bfloat162(x, y); }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __nv_bfloat162(v.x, v.y); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return make_float2(float(v.x), float(v.y)); }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return __nv_bfloat162(x, x); }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return __nv_bfloat162(x, y);
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline float __low2float(__nv_bfloat162 v) { return float(v.x); }
inline float __high2float(__nv_bfloat162 v) { return float(v.y); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  return __nv_bfloat16(__nv_bfloat16_raw{x});
}
