// What NVRTC lacks and every CUDA author expects, for candidates on the CUDA device: fixed-width
// integers, limits, the usual constants, and the few names of std:: that kernels use. Comes before
// worker/device/prelude.cuh and the candidate's text. The standard headers that these replace
// (<cstdint>, <cfloat>, <cmath> ...) may be included: they are empty.
// libcu++'s headers redefine some of the macros to the same values.
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;

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
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX UINT64_MAX

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

using ssize_t = long;
using uint = unsigned int;
using ushort = unsigned short;
using uchar = unsigned char;

#define NULL 0
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define HUGE_VALF INFINITY
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
template <class T> struct remove_cv {
  using type = remove_const_t<typename remove_volatile<T>::type>;
};
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;

template <class T> struct is_floating_point
    : bool_constant<is_same_v<remove_cv_t<T>, float> || is_same_v<remove_cv_t<T>, double>> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
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
template <class T> inline constexpr bool is_pointer_v = !is_same_v<remove_pointer_t<T>, T>;

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
WARPSMITH_INTEGER_LIMITS(char, -128, 127);
WARPSMITH_INTEGER_LIMITS(signed char, -128, 127);
WARPSMITH_INTEGER_LIMITS(unsigned char, 0, 255);
WARPSMITH_INTEGER_LIMITS(short, -32768, 32767);
WARPSMITH_INTEGER_LIMITS(unsigned short, 0, 65535);
WARPSMITH_INTEGER_LIMITS(int, -2147483647 - 1, 2147483647);
WARPSMITH_INTEGER_LIMITS(unsigned int, 0, 4294967295U);
WARPSMITH_INTEGER_LIMITS(long, -9223372036854775807L - 1, 9223372036854775807L);
WARPSMITH_INTEGER_LIMITS(unsigned long, 0, 18446744073709551615UL);
WARPSMITH_INTEGER_LIMITS(long long, -9223372036854775807LL - 1, 9223372036854775807LL);
WARPSMITH_INTEGER_LIMITS(unsigned long long, 0, 18446744073709551615ULL);
#undef WARPSMITH_INTEGER_LIMITS
template <> struct numeric_limits<float> {
  static constexpr bool is_specialized = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static __device__ constexpr float min() { return 1.17549435e-38f; }
  static __device__ constexpr float lowest() { return -3.40282347e+38f; }
  static __device__ constexpr float max() { return 3.40282347e+38f; }
  static __device__ constexpr float epsilon() { return 1.19209290e-7f; }
  static __device__ constexpr float infinity() { return __builtin_bit_cast(float, 0x7f800000); }
  static __device__ constexpr float quiet_NaN() { return __builtin_bit_cast(float, 0x7fffffff); }
};
template <> struct numeric_limits<double> {
  static constexpr bool is_specialized = true, is_integer = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static __device__ constexpr double min() { return 2.2250738585072014e-308; }
  static __device__ constexpr double lowest() { return -1.7976931348623157e+308; }
  static __device__ constexpr double max() { return 1.7976931348623157e+308; }
  static __device__ constexpr double epsilon() { return 2.2204460492503131e-16; }
  static __device__ constexpr double infinity() {
    return __builtin_bit_cast(double, 0x7ff0000000000000LL);
  }
  static __device__ constexpr double quiet_NaN() {
    return __builtin_bit_cast(double, 0x7fffffffffffffffLL);
  }
};

using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::pow; using ::fmod;
using ::remainder; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos;
using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh;
using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::ceil; using ::floor; using ::trunc; using ::round; using ::rint; using ::nearbyint;
using ::copysign; using ::fma; using ::fmin; using ::fmax; using ::hypot; using ::isnan;
using ::isinf; using ::isfinite; using ::signbit;
using ::size_t;
using ::ptrdiff_t;
using ::int8_t;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::uint8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::intptr_t;
using ::uintptr_t;

}  // namespace std
