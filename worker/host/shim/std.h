// Host device: the standard names of every device, and what else a CPU's candidates find without an
// include.
#pragma once

#include "types.h"

#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX

#include "standard_names.cuh"

#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_INF HUGE_VAL
#define CUDART_PI_F 3.141592654f

namespace std {

using ::memcpy;
using ::memmove;
using ::memset;

// NVRTC brings these two itself.
template <class T>
constexpr remove_reference_t<T>&& move(T&& value) noexcept {
  return static_cast<remove_reference_t<T>&&>(value);
}
template <class T>
constexpr T&& forward(remove_reference_t<T>& value) noexcept {
  return static_cast<T&&>(value);
}

}  // namespace std
