// Host device: CUDA's qualifiers, vector types and thread indices for g++.
//
// A thread's indices are thread-local to the worker that runs it; the runtime sets them through the
// functions in entry.h whenever it turns to another thread. They have internal linkage and nobody
// takes their address, so that the compiler knows no pointer of a kernel's changes them.
#pragma once

#define WARPSMITH_HOST_DEVICE 1
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define WARPSMITH_VECTOR1(name, type) \
  struct name##1 {                    \
    type x;                           \
  };                                  \
  inline name##1 make_##name##1(type x) { return name##1 {x}; }
#define WARPSMITH_VECTOR2(name, type, bytes)       \
  struct __attribute__((aligned(bytes))) name##2 { \
    type x, y;                                     \
  };                                               \
  inline name##2 make_##name##2(type x, type y) { return name##2 {x, y}; }
#define WARPSMITH_VECTOR3(name, type) \
  struct name##3 {                    \
    type x, y, z;                     \
  };                                  \
  inline name##3 make_##name##3(type x, type y, type z) { return name##3 {x, y, z}; }
#define WARPSMITH_VECTOR4(name, type, bytes)       \
  struct __attribute__((aligned(bytes))) name##4 { \
    type x, y, z, w;                               \
  };                                               \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return name##4 {x, y, z, w}; }
#define WARPSMITH_VECTORS(name, type, two, four)                   \
  WARPSMITH_VECTOR1(name, type)                                    \
  WARPSMITH_VECTOR2(name, type, two) WARPSMITH_VECTOR3(name, type) \
      WARPSMITH_VECTOR4(name, type, four)

WARPSMITH_VECTORS(char, signed char, 2, 4)
WARPSMITH_VECTORS(uchar, unsigned char, 2, 4)
WARPSMITH_VECTORS(short, short, 4, 8)
WARPSMITH_VECTORS(ushort, unsigned short, 4, 8)
WARPSMITH_VECTORS(int, int, 8, 16)
WARPSMITH_VECTORS(uint, unsigned int, 8, 16)
WARPSMITH_VECTORS(long, long, 16, 16)
WARPSMITH_VECTORS(ulong, unsigned long, 16, 16)
WARPSMITH_VECTORS(longlong, long long, 16, 16)
WARPSMITH_VECTORS(ulonglong, unsigned long long, 16, 16)
WARPSMITH_VECTORS(float, float, 8, 16)
WARPSMITH_VECTORS(double, double, 16, 16)

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

static thread_local uint3 threadIdx;
static thread_local uint3 blockIdx;
static thread_local dim3 blockDim;
static thread_local dim3 gridDim;
constexpr int warpSize = 32;

// The runtime's part (worker/host/runtime/primitives.h says what each does). A candidate that
// refers to neither of the first two runs as a plain loop, without fibers.
extern "C" {
unsigned int warpsmith_barrier(unsigned int kind, unsigned int predicate);
unsigned long warpsmith_warp(unsigned int kind, unsigned int mask, unsigned long value,
                             unsigned int a, unsigned int b);
[[noreturn]] void warpsmith_trap(const char* why);
int warpsmith_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
}

#define printf(...) warpsmith_printf(__VA_ARGS__)
#define WARPSMITH_TEXT_INNER(x) #x
#define WARPSMITH_TEXT(x) WARPSMITH_TEXT_INNER(x)
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
  ((condition)            \
       ? (void)0          \
       : warpsmith_trap(__FILE__ ":" WARPSMITH_TEXT(__LINE__) ": assertion failed: " #condition))
#endif
inline void __trap() { warpsmith_trap("__trap()"); }
inline void __brkpt() { warpsmith_trap("__brkpt()"); }

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept;
void* memmove(void* to, const void* from, size_t bytes) noexcept;
void* memset(void* to, int value, size_t bytes) noexcept;
int memcmp(const void* a, const void* b, size_t bytes) noexcept;
}

#ifndef NULL
#define NULL __null
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)
