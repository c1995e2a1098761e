// Host device: the few names of the standard library that device code uses.
#pragma once

#include "types.h"

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-LONG_MAX - 1)
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX
#define SIZE_MAX ULONG_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define FLT_DIG __FLT_DIG__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_huge_valf()
#define HUGE_VAL __builtin_huge_val()
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_PI_F 3.141592654f
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

namespace std {

using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::memcpy;
using ::memmove;
using ::memset;
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
typedef decltype(nullptr) nullptr_t;

template <typename T, T V>
struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return V; }
};
template <bool B>
using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <typename A, typename B>
struct is_same : false_type {};
template <typename A>
struct is_same<A, A> : true_type {};
template <typename A, typename B>
inline constexpr bool is_same_v = is_same<A, B>::value;

template <bool C, typename A, typename B>
struct conditional {
  using type = A;
};
template <typename A, typename B>
struct conditional<false, A, B> {
  using type = B;
};
template <bool C, typename A, typename B>
using conditional_t = typename conditional<C, A, B>::type;
template <bool C, typename T = void>
struct enable_if {};
template <typename T>
struct enable_if<true, T> {
  using type = T;
};
template <bool C, typename T = void>
using enable_if_t = typename enable_if<C, T>::type;
template <typename...>
using void_t = void;

template <typename T>
struct remove_reference {
  using type = T;
};
template <typename T>
struct remove_reference<T&> {
  using type = T;
};
template <typename T>
struct remove_reference<T&&> {
  using type = T;
};
template <typename T>
using remove_reference_t = typename remove_reference<T>::type;
template <typename T>
struct remove_const {
  using type = T;
};
template <typename T>
struct remove_const<const T> {
  using type = T;
};
template <typename T>
using remove_const_t = typename remove_const<T>::type;
template <typename T>
struct remove_volatile {
  using type = T;
};
template <typename T>
struct remove_volatile<volatile T> {
  using type = T;
};
template <typename T>
struct remove_cv {
  using type = remove_const_t<typename remove_volatile<T>::type>;
};
template <typename T>
using remove_cv_t = typename remove_cv<T>::type;
template <typename T>
struct remove_pointer {
  using type = T;
};
template <typename T>
struct remove_pointer<T*> {
  using type = T;
};
template <typename T>
using remove_pointer_t = typename remove_pointer<T>::type;
template <typename T>
using decay_t = remove_cv_t<remove_reference_t<T>>;
template <typename T>
struct decay {
  using type = decay_t<T>;
};

template <typename T>
struct is_pointer : false_type {};
template <typename T>
struct is_pointer<T*> : true_type {};
template <typename T>
inline constexpr bool is_pointer_v = is_pointer<remove_cv_t<T>>::value;
template <typename T>
inline constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double> ||
    is_same_v<remove_cv_t<T>, long double>;
template <typename T>
struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <typename T>
struct warpsmith_integral : false_type {};
#define WARPSMITH_INTEGRAL(type) \
  template <>                    \
  struct warpsmith_integral<type> : true_type {};
WARPSMITH_INTEGRAL(bool)
WARPSMITH_INTEGRAL(char) WARPSMITH_INTEGRAL(signed char) WARPSMITH_INTEGRAL(unsigned char)
    WARPSMITH_INTEGRAL(short) WARPSMITH_INTEGRAL(unsigned short) WARPSMITH_INTEGRAL(int)
        WARPSMITH_INTEGRAL(unsigned int) WARPSMITH_INTEGRAL(long) WARPSMITH_INTEGRAL(unsigned long)
            WARPSMITH_INTEGRAL(long long)
                WARPSMITH_INTEGRAL(unsigned long long) template <typename T>
                inline constexpr bool is_integral_v = warpsmith_integral<remove_cv_t<T>>::value;
template <typename T>
struct is_integral : bool_constant<is_integral_v<T>> {};
template <typename T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <typename T>
struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <typename T>
inline constexpr bool is_signed_v = is_arithmetic_v<T>&& T(-1) < T(0);
template <typename T>
inline constexpr bool is_unsigned_v = is_integral_v<T>&& T(-1) > T(0);
template <typename T>
struct make_unsigned {
  using type = T;
};
template <>
struct make_unsigned<int> {
  using type = unsigned int;
};
template <>
struct make_unsigned<long> {
  using type = unsigned long;
};
template <>
struct make_unsigned<long long> {
  using type = unsigned long long;
};
template <typename T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <typename T>
remove_reference_t<T>&& move(T&& v) noexcept {
  return static_cast<remove_reference_t<T>&&>(v);
}
template <typename T>
T&& forward(remove_reference_t<T>& v) noexcept {
  return static_cast<T&&>(v);
}
template <typename T>
T&& declval() noexcept;
template <typename A, typename B>
struct common_type {
  using type = decay_t<decltype(true ? declval<A>() : declval<B>())>;
};
template <typename A, typename B>
using common_type_t = typename common_type<A, B>::type;
template <typename T>
void swap(T& a, T& b) {
  T c = a;
  a = b;
  b = c;
}
template <typename T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : high < v ? high : v;
}

template <typename T, size_t N>
struct array {
  T data_[N];
  constexpr T& operator[](size_t i) { return data_[i]; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr size_t size() const { return N; }
  constexpr T* data() { return data_; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + N; }
};

template <typename T>
struct numeric_limits;
#define WARPSMITH_LIMITS(type, least, most)          \
  template <>                                        \
  struct numeric_limits<type> {                      \
    static constexpr bool is_integer = true;         \
    static constexpr bool has_infinity = false;      \
    static constexpr type min() { return least; }    \
    static constexpr type lowest() { return least; } \
    static constexpr type max() { return most; }     \
  };
WARPSMITH_LIMITS(bool, false, true)
WARPSMITH_LIMITS(char, CHAR_MIN, CHAR_MAX)
WARPSMITH_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX)
WARPSMITH_LIMITS(unsigned char, 0, UCHAR_MAX)
WARPSMITH_LIMITS(short, SHRT_MIN, SHRT_MAX)
WARPSMITH_LIMITS(unsigned short, 0, USHRT_MAX)
WARPSMITH_LIMITS(int, INT_MIN, INT_MAX)
WARPSMITH_LIMITS(unsigned int, 0, UINT_MAX)
WARPSMITH_LIMITS(long, LONG_MIN, LONG_MAX)
WARPSMITH_LIMITS(unsigned long, 0, ULONG_MAX)
WARPSMITH_LIMITS(long long, LLONG_MIN, LLONG_MAX)
WARPSMITH_LIMITS(unsigned long long, 0, ULLONG_MAX)
#define WARPSMITH_FLOAT_LIMITS(type, prefix, suffix)                        \
  template <>                                                               \
  struct numeric_limits<type> {                                             \
    static constexpr bool is_integer = false;                               \
    static constexpr bool has_infinity = true;                              \
    static constexpr type min() { return prefix##_MIN__; }                  \
    static constexpr type max() { return prefix##_MAX__; }                  \
    static constexpr type lowest() { return -prefix##_MAX__; }              \
    static constexpr type epsilon() { return prefix##_EPSILON__; }          \
    static constexpr type infinity() { return __builtin_inf##suffix(); }    \
    static constexpr type quiet_NaN() { return __builtin_nan##suffix(""); } \
  };
WARPSMITH_FLOAT_LIMITS(float, __FLT, f)
WARPSMITH_FLOAT_LIMITS(double, __DBL, )

}  // namespace std
