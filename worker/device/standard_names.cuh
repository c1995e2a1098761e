// Standard names that device code expects, the same on every device: limits, constants, and the few
// names of std:: that kernels use. NVRTC compiles it for a GPU and g++ for the host device, where
// __device__ is empty. The device's own text before it defines the fixed-width integers, whose
// 64-bit ones are `long long` on a GPU and `long` on the host, and their limits.
#pragma once

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL

#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define SIZE_MAX ULONG_MAX

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-7f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16

#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000LL)
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
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
using ::ptrdiff_t;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
using nullptr_t = decltype(nullptr);

template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  __device__ constexpr operator T() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class...> using void_t = void;
template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;

template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> struct remove_cv { using type = remove_const_t<remove_volatile_t<T>>; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct decay { using type = remove_cv_t<remove_reference_t<T>>; };
template <class T> using decay_t = typename decay<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;

template <class T> inline constexpr bool is_floating_point_v =
    is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>;
template <class T> struct is_floating_point : bool_constant<is_floating_point_v<T>> {};
template <class T> inline constexpr bool is_integral_v =
    is_same_v<remove_cv_t<T>, bool> || is_same_v<remove_cv_t<T>, char> ||
    is_same_v<remove_cv_t<T>, signed char> || is_same_v<remove_cv_t<T>, unsigned char> ||
    is_same_v<remove_cv_t<T>, short> || is_same_v<remove_cv_t<T>, unsigned short> ||
    is_same_v<remove_cv_t<T>, int> || is_same_v<remove_cv_t<T>, unsigned int> ||
    is_same_v<remove_cv_t<T>, long> || is_same_v<remove_cv_t<T>, unsigned long> ||
    is_same_v<remove_cv_t<T>, long long> || is_same_v<remove_cv_t<T>, unsigned long long>;
template <class T> struct is_integral : bool_constant<is_integral_v<T>> {};
template <class T> inline constexpr bool is_arithmetic_v =
    is_integral_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <class T> inline constexpr bool is_pointer_v =
    !is_same_v<remove_pointer_t<remove_cv_t<T>>, remove_cv_t<T>>;
template <class T> struct is_pointer : bool_constant<is_pointer_v<T>> {};
template <class T, bool = is_arithmetic_v<T>>
inline constexpr bool is_signed_v = T(-1) < T(0);
template <class T> inline constexpr bool is_signed_v<T, false> = false;
template <class T> inline constexpr bool is_unsigned_v = is_integral_v<T> && !is_signed_v<T>;

template <class T> struct make_unsigned { using type = T; };
template <> struct make_unsigned<char> { using type = unsigned char; };
template <> struct make_unsigned<signed char> { using type = unsigned char; };
template <> struct make_unsigned<short> { using type = unsigned short; };
template <> struct make_unsigned<int> { using type = unsigned int; };
template <> struct make_unsigned<long> { using type = unsigned long; };
template <> struct make_unsigned<long long> { using type = unsigned long long; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;

template <class T> __device__ T&& declval() noexcept;
template <class T, class U> struct common_type {
  using type = decay_t<decltype(true ? declval<T>() : declval<U>())>;
};
template <class T, class U> using common_type_t = typename common_type<T, U>::type;

template <class T> __device__ constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T> __device__ constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T> __device__ constexpr const T& clamp(const T& v, const T& low, const T& high) {
  return v < low ? low : (high < v ? high : v);
}
template <class T> __device__ constexpr void swap(T& a, T& b) {
  T kept = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(kept);
}

template <class T, size_t N> struct array {
  T data_[N];
  __device__ constexpr T& operator[](size_t i) { return data_[i]; }
  __device__ constexpr const T& operator[](size_t i) const { return data_[i]; }
  __device__ constexpr size_t size() const { return N; }
  __device__ constexpr T* data() { return data_; }
  __device__ constexpr const T* data() const { return data_; }
  __device__ constexpr T* begin() { return data_; }
  __device__ constexpr const T* begin() const { return data_; }
  __device__ constexpr T* end() { return data_ + N; }
  __device__ constexpr const T* end() const { return data_ + N; }
};

template <class T> struct numeric_limits;
#define WARPSMITH_INTEGER_LIMITS(T, low, high)                                   \
  template <> struct numeric_limits<T> {                                         \
    static constexpr bool is_specialized = true, is_integer = true;              \
    static constexpr bool has_infinity = false, has_quiet_NaN = false;           \
    static __device__ constexpr T min() { return low; }                          \
    static __device__ constexpr T lowest() { return low; }                       \
    static __device__ constexpr T max() { return high; }                         \
  }
WARPSMITH_INTEGER_LIMITS(bool, false, true);
WARPSMITH_INTEGER_LIMITS(char, CHAR_MIN, CHAR_MAX);
WARPSMITH_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX);
WARPSMITH_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX);
WARPSMITH_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX);
WARPSMITH_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX);
WARPSMITH_INTEGER_LIMITS(int, INT_MIN, INT_MAX);
WARPSMITH_INTEGER_LIMITS(unsigned int, 0, UINT_MAX);
WARPSMITH_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX);
WARPSMITH_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX);
WARPSMITH_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX);
WARPSMITH_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX);
#undef WARPSMITH_INTEGER_LIMITS
template <> struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static __device__ constexpr float min() { return FLT_MIN; }
  static __device__ constexpr float lowest() { return -FLT_MAX; }
  static __device__ constexpr float max() { return FLT_MAX; }
  static __device__ constexpr float epsilon() { return FLT_EPSILON; }
  static __device__ constexpr float infinity() { return INFINITY; }
  static __device__ constexpr float quiet_NaN() { return NAN; }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static __device__ constexpr double min() { return DBL_MIN; }
  static __device__ constexpr double lowest() { return -DBL_MAX; }
  static __device__ constexpr double max() { return DBL_MAX; }
  static __device__ constexpr double epsilon() { return DBL_EPSILON; }
  static __device__ constexpr double infinity() { return HUGE_VAL; }
  static __device__ constexpr double quiet_NaN() {
    return __builtin_bit_cast(double, 0x7fffffffffffffffLL);
  }
};

}  // namespace std
