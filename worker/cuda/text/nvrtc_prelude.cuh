// What NVRTC lacks and every CUDA author expects, for candidates on the CUDA device: fixed-width
// integers, then the standard names of every device, then the mathematics that CUDA has outside of
// std::. Comes before worker/device/prelude.cuh and the candidate's text. The standard headers that
// these replace (<cstdint>, <cfloat>, <cmath> ...) may be included: they are empty.
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
using ssize_t = long;
using uint = unsigned int;
using ushort = unsigned short;
using uchar = unsigned char;

#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
#define NULL 0

#include "warpsmith/standard_names.cuh"

namespace std {

using ::abs; using ::fabs; using ::sqrt; using ::cbrt; using ::exp; using ::exp2; using ::expm1;
using ::log; using ::log2; using ::log10; using ::log1p; using ::pow; using ::fmod;
using ::remainder; using ::sin; using ::cos; using ::tan; using ::asin; using ::acos;
using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::asinh;
using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma;
using ::ceil; using ::floor; using ::trunc; using ::round; using ::rint; using ::nearbyint;
using ::copysign; using ::fma; using ::fmin; using ::fmax; using ::hypot; using ::isnan;
using ::isinf; using ::isfinite; using ::signbit;

}  // namespace std
