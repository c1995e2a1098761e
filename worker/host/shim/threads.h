// Host device: what threads of a grid do together: barriers, warp operations, atomics, caches.
#pragma once

#include "half.h"

// In step with BarrierKind and WarpKind in worker/host/runtime/primitives.h.
enum warpsmith_barrier_kind : unsigned int {
  warpsmith_barrier_plain,
  warpsmith_barrier_count,
  warpsmith_barrier_and,
  warpsmith_barrier_or
};
enum warpsmith_warp_kind : unsigned int {
  warpsmith_warp_sync,
  warpsmith_warp_activemask,
  warpsmith_warp_shfl,
  warpsmith_warp_shfl_up,
  warpsmith_warp_shfl_down,
  warpsmith_warp_shfl_xor,
  warpsmith_warp_ballot,
  warpsmith_warp_any,
  warpsmith_warp_all,
  warpsmith_warp_match_any,
  warpsmith_warp_match_all,
  warpsmith_warp_add,
  warpsmith_warp_min,
  warpsmith_warp_max,
  warpsmith_warp_min_unsigned,
  warpsmith_warp_max_unsigned,
  warpsmith_warp_and,
  warpsmith_warp_or,
  warpsmith_warp_xor
};

__forceinline__ void __syncthreads() { warpsmith_barrier(warpsmith_barrier_plain, 0); }
__forceinline__ int __syncthreads_count(int p) {
  return static_cast<int>(warpsmith_barrier(warpsmith_barrier_count, p != 0));
}
__forceinline__ int __syncthreads_and(int p) {
  return static_cast<int>(warpsmith_barrier(warpsmith_barrier_and, p != 0));
}
__forceinline__ int __syncthreads_or(int p) {
  return static_cast<int>(warpsmith_barrier(warpsmith_barrier_or, p != 0));
}
__forceinline__ void __syncwarp(unsigned int mask = 0xffffffffu) {
  warpsmith_warp(warpsmith_warp_sync, mask, 0, 0, 0);
}
__forceinline__ unsigned int __activemask() {
  return static_cast<unsigned int>(warpsmith_warp(warpsmith_warp_activemask, 0xffffffffu, 0, 0, 0));
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __nanosleep(unsigned int) {}

template <typename T>
__forceinline__ T warpsmith_shuffle(unsigned int kind, unsigned int mask, T value,
                                    unsigned int lane, int width) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most eight bytes");
  unsigned long word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  word = warpsmith_warp(kind, mask, word, lane, static_cast<unsigned int>(width));
  __builtin_memcpy(&value, &word, sizeof(T));
  return value;
}
template <typename T>
__forceinline__ T __shfl_sync(unsigned int mask, T value, int lane, int width = 32) {
  return warpsmith_shuffle(warpsmith_warp_shfl, mask, value, static_cast<unsigned int>(lane),
                           width);
}
template <typename T>
__forceinline__ T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  return warpsmith_shuffle(warpsmith_warp_shfl_up, mask, value, delta, width);
}
template <typename T>
__forceinline__ T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32) {
  return warpsmith_shuffle(warpsmith_warp_shfl_down, mask, value, delta, width);
}
template <typename T>
__forceinline__ T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32) {
  return warpsmith_shuffle(warpsmith_warp_shfl_xor, mask, value, static_cast<unsigned int>(lanes),
                           width);
}
__forceinline__ unsigned int __ballot_sync(unsigned int mask, int p) {
  return static_cast<unsigned int>(warpsmith_warp(warpsmith_warp_ballot, mask, p != 0, 0, 0));
}
__forceinline__ int __any_sync(unsigned int mask, int p) {
  return static_cast<int>(warpsmith_warp(warpsmith_warp_any, mask, p != 0, 0, 0));
}
__forceinline__ int __all_sync(unsigned int mask, int p) {
  return static_cast<int>(warpsmith_warp(warpsmith_warp_all, mask, p != 0, 0, 0));
}
template <typename T>
__forceinline__ unsigned int __match_any_sync(unsigned int mask, T value) {
  unsigned long word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return static_cast<unsigned int>(warpsmith_warp(warpsmith_warp_match_any, mask, word, 0, 0));
}
template <typename T>
__forceinline__ unsigned int __match_all_sync(unsigned int mask, T value, int* all) {
  unsigned long word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  const unsigned int result =
      static_cast<unsigned int>(warpsmith_warp(warpsmith_warp_match_all, mask, word, 0, 0));
  *all = result != 0;
  return result;
}
#define WARPSMITH_REDUCE(name, type, kind)                                                        \
  __forceinline__ type name(unsigned int mask, type value) {                                      \
    return static_cast<type>(warpsmith_warp(kind, mask, static_cast<unsigned int>(value), 0, 0)); \
  }
WARPSMITH_REDUCE(__reduce_add_sync, int, warpsmith_warp_add)
WARPSMITH_REDUCE(__reduce_add_sync, unsigned int, warpsmith_warp_add)
WARPSMITH_REDUCE(__reduce_min_sync, int, warpsmith_warp_min)
WARPSMITH_REDUCE(__reduce_max_sync, int, warpsmith_warp_max)
WARPSMITH_REDUCE(__reduce_min_sync, unsigned int, warpsmith_warp_min_unsigned)
WARPSMITH_REDUCE(__reduce_max_sync, unsigned int, warpsmith_warp_max_unsigned)
WARPSMITH_REDUCE(__reduce_and_sync, unsigned int, warpsmith_warp_and)
WARPSMITH_REDUCE(__reduce_or_sync, unsigned int, warpsmith_warp_or)
WARPSMITH_REDUCE(__reduce_xor_sync, unsigned int, warpsmith_warp_xor)

// ---- caches: the hints say nothing here

template <typename T>
__forceinline__ T __ldg(const T* p) {
  return *p;
}
template <typename T>
__forceinline__ T __ldca(const T* p) {
  return *p;
}
template <typename T>
__forceinline__ T __ldcg(const T* p) {
  return *p;
}
template <typename T>
__forceinline__ T __ldcs(const T* p) {
  return *p;
}
template <typename T>
__forceinline__ T __ldlu(const T* p) {
  return *p;
}
template <typename T>
__forceinline__ T __ldcv(const T* p) {
  return *const_cast<const volatile T*>(p);
}
template <typename T, typename V>
__forceinline__ void __stwb(T* p, V v) {
  *p = v;
}
template <typename T, typename V>
__forceinline__ void __stcg(T* p, V v) {
  *p = v;
}
template <typename T, typename V>
__forceinline__ void __stcs(T* p, V v) {
  *p = v;
}
template <typename T, typename V>
__forceinline__ void __stwt(T* p, V v) {
  *p = v;
}

// ---- atomics

template <typename T, typename F>
__forceinline__ T warpsmith_update(T* p, F next) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long,
                                  std::conditional_t<sizeof(T) == 4, unsigned int, unsigned short>>;
  Word* word = reinterpret_cast<Word*>(p);
  Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    T value;
    __builtin_memcpy(&value, &old, sizeof(T));
    const T wanted = next(value);
    Word bits;
    __builtin_memcpy(&bits, &wanted, sizeof(T));
    if (__atomic_compare_exchange_n(word, &old, bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return value;
  }
}

#define WARPSMITH_ATOMICS(type)                                                                   \
  inline type atomicAdd(type* p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }   \
  inline type atomicSub(type* p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }   \
  inline type atomicExch(type* p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); } \
  inline type atomicAnd(type* p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }   \
  inline type atomicOr(type* p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }     \
  inline type atomicXor(type* p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }   \
  inline type atomicMin(type* p, type v) {                                                        \
    return warpsmith_update(p, [v](type old) { return old < v ? old : v; });                      \
  }                                                                                               \
  inline type atomicMax(type* p, type v) {                                                        \
    return warpsmith_update(p, [v](type old) { return old > v ? old : v; });                      \
  }                                                                                               \
  inline type atomicCAS(type* p, type expected, type v) {                                         \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);      \
    return expected;                                                                              \
  }
WARPSMITH_ATOMICS(int)
WARPSMITH_ATOMICS(unsigned int)
WARPSMITH_ATOMICS(long long)
WARPSMITH_ATOMICS(unsigned long long)
WARPSMITH_ATOMICS(unsigned long)
#define WARPSMITH_FLOAT_ATOMICS(type)                                                 \
  inline type atomicAdd(type* p, type v) {                                            \
    return warpsmith_update(p, [v](type old) { return static_cast<type>(old + v); }); \
  }
WARPSMITH_FLOAT_ATOMICS(float)
WARPSMITH_FLOAT_ATOMICS(double)
WARPSMITH_FLOAT_ATOMICS(__half)
WARPSMITH_FLOAT_ATOMICS(__nv_bfloat16)
WARPSMITH_FLOAT_ATOMICS(__half2)
WARPSMITH_FLOAT_ATOMICS(__nv_bfloat162)
inline float atomicExch(float* p, float v) {
  return warpsmith_update(p, [v](float) { return v; });
}
inline unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
inline unsigned int atomicInc(unsigned int* p, unsigned int limit) {
  return warpsmith_update(p, [limit](unsigned int old) { return old >= limit ? 0 : old + 1; });
}
inline unsigned int atomicDec(unsigned int* p, unsigned int limit) {
  return warpsmith_update(
      p, [limit](unsigned int old) { return old == 0 || old > limit ? limit : old - 1; });
}
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicMax_block atomicMax
#define atomicMin_block atomicMin

inline long long clock64() { return static_cast<long long>(__builtin_ia32_rdtsc()); }
inline unsigned int clock() { return static_cast<unsigned int>(__builtin_ia32_rdtsc()); }
