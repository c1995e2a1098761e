// What every candidate finds without an include, on every device: plain CUDA C++17 that NVRTC
// compiles for a GPU and g++ for the host device (which defines WARPSMITH_HOST_DEVICE). It comes
// before the candidate's text.
//
// Every function yields to the author's own of the same name and arguments: its trailing, always
// empty parameter pack makes it the worse match. `vec`, the one type, may not be defined again.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

// ---- where a thread is

// ceil_div(7, 4) == 2. Not for negative numbers.
template <typename A, typename B, typename... Yield>
__host__ __device__ constexpr auto ceil_div(A a, B b, Yield...) -> decltype(a / b) {
  return (a + b - 1) / b;
}

// The thread's place in its block, x fastest.
template <typename... Yield>
__device__ __forceinline__ unsigned thread_rank(Yield...) {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Threads in a block.
template <typename... Yield>
__device__ __forceinline__ unsigned thread_count(Yield...) {
  return blockDim.x * blockDim.y * blockDim.z;
}

template <typename... Yield>
__device__ __forceinline__ unsigned lane_id(Yield...) { return thread_rank() % 32u; }

template <typename... Yield>
__device__ __forceinline__ unsigned warp_id(Yield...) { return thread_rank() / 32u; }

// ---- numbers

// Any element type as a float: to_float(__nv_bfloat16), to_float(__half), to_float(int) ...
template <typename T, typename... Yield>
__device__ __forceinline__ float to_float(T value, Yield...) { return static_cast<float>(value); }
template <typename... Yield>
__device__ __forceinline__ float to_float(__half value, Yield...) { return __half2float(value); }
template <typename... Yield>
__device__ __forceinline__ float to_float(__nv_bfloat16 value, Yield...) {
  return __bfloat162float(value);
}

template <typename T>
struct warpsmith_from_float {
  static __device__ __forceinline__ T convert(float value) { return static_cast<T>(value); }
};
template <>
struct warpsmith_from_float<__half> {
  static __device__ __forceinline__ __half convert(float value) { return __float2half_rn(value); }
};
template <>
struct warpsmith_from_float<__nv_bfloat16> {
  static __device__ __forceinline__ __nv_bfloat16 convert(float value) {
    return __float2bfloat16_rn(value);
  }
};

// A float as an element type, rounded to nearest even: from_float<__nv_bfloat16>(x).
template <typename T, typename... Yield>
__device__ __forceinline__ T from_float(float value, Yield...) {
  return warpsmith_from_float<T>::convert(value);
}

// Quicker and less exact than tanhf and expf: about 2^-11 relative on a GPU, exact on the host
// device.
template <typename... Yield>
__device__ __forceinline__ float fast_tanh(float x, Yield...) {
#ifdef WARPSMITH_HOST_DEVICE
  return __tanhf(x);
#else
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}
template <typename... Yield>
__device__ __forceinline__ float fast_exp(float x, Yield...) { return __expf(x); }

// ---- reductions over a warp and over a block

struct warpsmith_sum {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
struct warpsmith_max {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct warpsmith_min {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const { return a < b ? a : b; }
};

// Combines the values of `Width` neighbouring lanes (a power of two, at most 32); every lane gets
// the result. All 32 lanes of the warp must call it. `op` is associative and commutative.
template <int Width = 32, typename T, typename Op, typename... Yield>
__device__ __forceinline__ T warp_reduce(T value, Op op, Yield...) {
#pragma unroll
  for (int offset = Width / 2; offset > 0; offset /= 2)
    value = op(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}
template <int Width = 32, typename T, typename... Yield>
__device__ __forceinline__ T warp_reduce_sum(T value, Yield...) {
  return warp_reduce<Width>(value, warpsmith_sum());
}
template <int Width = 32, typename T, typename... Yield>
__device__ __forceinline__ T warp_reduce_max(T value, Yield...) {
  return warp_reduce<Width>(value, warpsmith_max());
}
template <int Width = 32, typename T, typename... Yield>
__device__ __forceinline__ T warp_reduce_min(T value, Yield...) {
  return warp_reduce<Width>(value, warpsmith_min());
}

// Combines the values of all threads of a block of any shape and size; every thread gets the
// result. All threads must call it; it ends with a barrier, so that calls may follow one another.
// `Threads`, when given, must be the block's size and spares the general case:
// block_reduce_sum<256>(x).
template <int Threads = 0, typename T, typename Op, typename... Yield>
__device__ __forceinline__ T block_reduce(T value, Op op, Yield...) {
  __shared__ T partial[32];
  const unsigned threads = Threads > 0 ? Threads : thread_count();
  const unsigned warps = (threads + 31) / 32;
  const unsigned lane = lane_id(), warp = warp_id();
  const unsigned lanes = warp + 1 < warps ? 32u : threads - 32 * (warps - 1);
  const unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
#pragma unroll
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    const T other = __shfl_down_sync(mask, value, offset);
    if (lane + offset < lanes) value = op(value, other);
  }
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = partial[0];
  for (unsigned i = 1; i < warps; ++i) value = op(value, partial[i]);
  __syncthreads();
  return value;
}
template <int Threads = 0, typename T, typename... Yield>
__device__ __forceinline__ T block_reduce_sum(T value, Yield...) {
  return block_reduce<Threads>(value, warpsmith_sum());
}
template <int Threads = 0, typename T, typename... Yield>
__device__ __forceinline__ T block_reduce_max(T value, Yield...) {
  return block_reduce<Threads>(value, warpsmith_max());
}
template <int Threads = 0, typename T, typename... Yield>
__device__ __forceinline__ T block_reduce_min(T value, Yield...) {
  return block_reduce<Threads>(value, warpsmith_min());
}

// ---- N elements at a time

// N elements of type T (N a power of two) in registers; as aligned as one load of them needs, at
// most 16 bytes. Index it with constants, in unrolled loops.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec {
  T data[N];
  __device__ __forceinline__ T& operator[](int i) { return data[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return data[i]; }
};

// The widest word that moves `Bytes` bytes in one go.
template <int Bytes>
struct warpsmith_word { using type = uint4; };
template <>
struct warpsmith_word<8> { using type = uint2; };
template <>
struct warpsmith_word<4> { using type = unsigned int; };
template <>
struct warpsmith_word<2> { using type = unsigned short; };
template <>
struct warpsmith_word<1> { using type = unsigned char; };

// load_vec<N>(p): N elements from p, which must be aligned to min(N * sizeof(T), 16) bytes, in
// loads as wide as possible; load_cs(p): one element. The suffix says how it is cached:
//   load_vec  as usual (ld.global)         load_cg  in L2 only
//   load_nc   through the read-only path   load_cs  streaming: likely used once
//   store_vec as usual (write back)        store_cs streaming       store_cg  in L2 only
// The host device copies all of it at once: words stored one by one and then read back as one
// vector would stall the CPU.
#ifdef WARPSMITH_HOST_DEVICE
#define WARPSMITH_MOVE(to, from, one_word)                           \
  __builtin_memcpy(__builtin_assume_aligned((to), sizeof(word)),     \
                   __builtin_assume_aligned((from), sizeof(word)),   \
                   static_cast<unsigned long>(bytes))
#else
#define WARPSMITH_MOVE(to, from, one_word)                                             \
  _Pragma("unroll") for (int i = 0; i < bytes / static_cast<int>(sizeof(word)); ++i) { \
    one_word;                                                                          \
  }
#endif
#define WARPSMITH_LOAD(name, load)                                                   \
  template <int N, typename T, typename... Yield>                                    \
  __device__ __forceinline__ vec<T, N> name(const T* p, Yield...) {                  \
    constexpr int bytes = static_cast<int>(sizeof(vec<T, N>));                       \
    using word = typename warpsmith_word<(bytes < 16 ? bytes : 16)>::type;           \
    vec<T, N> result;                                                                \
    WARPSMITH_MOVE(&result, p,                                                       \
                   reinterpret_cast<word*>(&result)[i] =                             \
                       load(reinterpret_cast<const word*>(p) + i));                  \
    return result;                                                                   \
  }                                                                                  \
  template <typename T, typename... Yield>                                           \
  __device__ __forceinline__ T name(const T* p, Yield...) {                          \
    return name<1>(p).data[0];                                                       \
  }
#define WARPSMITH_STORE(name, store)                                                 \
  template <int N, typename T, typename... Yield>                                    \
  __device__ __forceinline__ void name(T* p, const vec<T, N>& value, Yield...) {     \
    constexpr int bytes = static_cast<int>(sizeof(vec<T, N>));                       \
    using word = typename warpsmith_word<(bytes < 16 ? bytes : 16)>::type;           \
    WARPSMITH_MOVE(p, &value,                                                        \
                   store(reinterpret_cast<word*>(p) + i,                             \
                         reinterpret_cast<const word*>(&value)[i]));                 \
  }                                                                                  \
  template <typename T, typename... Yield>                                           \
  __device__ __forceinline__ void name(T* p, T value, Yield...) {                    \
    vec<T, 1> one;                                                                   \
    one.data[0] = value;                                                             \
    name(p, one);                                                                    \
  }

template <typename W>
__device__ __forceinline__ W warpsmith_load_plain(const W* p) { return *p; }
template <typename W>
__device__ __forceinline__ void warpsmith_store_plain(W* p, W value) { *p = value; }

WARPSMITH_LOAD(load_vec, warpsmith_load_plain)
WARPSMITH_LOAD(load_nc, __ldg)
WARPSMITH_LOAD(load_cg, __ldcg)
WARPSMITH_LOAD(load_cs, __ldcs)
WARPSMITH_STORE(store_vec, warpsmith_store_plain)
WARPSMITH_STORE(store_cg, __stcg)
WARPSMITH_STORE(store_cs, __stcs)

#undef WARPSMITH_MOVE
#undef WARPSMITH_LOAD
#undef WARPSMITH_STORE
