// Device code of worker/cuda/cuda_oracle_device.h: content, comparison, damage search,
// digest.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "worker/device/compare_value.h"
#include "worker/device/content_value.h"

using warpsmith::CompareValue;
using warpsmith::ContentNumbers;
using warpsmith::ContentValue;
using warpsmith::ValueRule;
using warpsmith::ValueSums;
using u64 = unsigned long long;

__device__ u64 ThreadIndex() { return blockIdx.x * static_cast<u64>(blockDim.x) + threadIdx.x; }
__device__ u64 ThreadCount() { return gridDim.x * static_cast<u64>(blockDim.x); }

__device__ void Store(double* out, double v) { *out = v; }
__device__ void Store(float* out, double v) { *out = static_cast<float>(v); }
__device__ void Store(__half* out, double v) { *out = __float2half_rn(static_cast<float>(v)); }
__device__ void Store(__nv_bfloat16* out, double v) {
  *out = __float2bfloat16_rn(static_cast<float>(v));
}
template <typename Integer>
__device__ void Store(Integer* out, double v) {
  *out = static_cast<Integer>(static_cast<long long>(v));
}

// A normal for a dtype of 16 bits: within a few units of a float's last place, of which it keeps
// less than half. The logarithm is taken from the end that u0 is near, so that nothing cancels.
__device__ float ShortNormal(const ContentNumbers& content, u64 index) {
  const warpsmith::ContentWords words = warpsmith::DrawContent(content, index);
  const float log_u0 = words.word0 < 0x80000000u
                           ? logf((static_cast<float>(words.word0) + 0.5f) * 0x1p-32f)
                           : log1pf((static_cast<float>(~words.word0) + 0.5f) * -0x1p-32f);
  return static_cast<float>(content.scale) * sqrtf(-2.0f * log_u0) *
         cospif(static_cast<float>(words.word1) * 0x1p-31f);
}

template <typename T> struct IsShort { static constexpr bool value = false; };
template <> struct IsShort<__half> { static constexpr bool value = true; };
template <> struct IsShort<__nv_bfloat16> { static constexpr bool value = true; };

template <typename T>
__device__ void Fill(void* data, u64 count, const ContentNumbers& content) {
  if constexpr (IsShort<T>::value) {
    if (content.kind == 0) {
      for (u64 i = ThreadIndex(); i < count; i += ThreadCount())
        Store(static_cast<T*>(data) + i, ShortNormal(content, i));
      return;
    }
  }
  for (u64 i = ThreadIndex(); i < count; i += ThreadCount())
    Store(static_cast<T*>(data) + i, ContentValue(content, i));
}

#define WARPSMITH_FILL(name, T)                                              \
  extern "C" __global__ void warpsmith_fill_##name(void* data, u64 count,    \
                                                   ContentNumbers content) { \
    Fill<T>(data, count, content);                                           \
  }
WARPSMITH_FILL(float64, double)
WARPSMITH_FILL(float32, float)
WARPSMITH_FILL(float16, __half)
WARPSMITH_FILL(bfloat16, __nv_bfloat16)
WARPSMITH_FILL(int64, long long)
WARPSMITH_FILL(int32, int)
WARPSMITH_FILL(int16, short)
WARPSMITH_FILL(int8, signed char)
WARPSMITH_FILL(uint8, unsigned char)
WARPSMITH_FILL(bool, unsigned char)

__device__ double Widened(double x) { return x; }
__device__ double Widened(float x) { return x; }
__device__ double Widened(__half x) { return __half2float(x); }
__device__ double Widened(__nv_bfloat16 x) { return __bfloat162float(x); }

// Neighbours that one thread loads together.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T at[kCount];
};

template <typename Got, typename Expected>
__device__ ValueSums CompareAll(const Got* got, const Expected* expected, u64 count,
                                const ValueRule& rule) {
  constexpr int kPack = sizeof(Got) + sizeof(Expected) > 8 ? 4 : 8;
  using GotPack = Pack<Got, kPack>;
  using ExpectedPack = Pack<Expected, kPack>;
  ValueSums sums;
  u64 done = 0;
  if (reinterpret_cast<u64>(got) % 16 == 0 && reinterpret_cast<u64>(expected) % 16 == 0) {
    const u64 packs = count / kPack;
    for (u64 i = ThreadIndex(); i < packs; i += ThreadCount()) {
      const GotPack mine = reinterpret_cast<const GotPack*>(got)[i];
      const ExpectedPack theirs = reinterpret_cast<const ExpectedPack*>(expected)[i];
#pragma unroll
      for (int k = 0; k < kPack; ++k)
        CompareValue(rule, Widened(theirs.at[k]), Widened(mine.at[k]), sums);
    }
    done = packs * kPack;
  }
  for (u64 i = done + ThreadIndex(); i < count; i += ThreadCount())
    CompareValue(rule, Widened(expected[i]), Widened(got[i]), sums);
  return sums;
}

// `type` of the expected values: 0 float64, 1 float32, 2 float16, 3 bfloat16. One ValueSums a block
// of 256 threads.
template <typename Got>
__device__ void CompareWith(const void* got, const void* expected, int type, u64 count,
                            const ValueRule& rule, ValueSums* parts) {
  const Got* mine = static_cast<const Got*>(got);
  ValueSums sums;
  switch (type) {
    case 0: sums = CompareAll(mine, static_cast<const double*>(expected), count, rule); break;
    case 1: sums = CompareAll(mine, static_cast<const float*>(expected), count, rule); break;
    case 2: sums = CompareAll(mine, static_cast<const __half*>(expected), count, rule); break;
    default: sums = CompareAll(mine, static_cast<const __nv_bfloat16*>(expected), count, rule);
  }
  __shared__ double errors[256], tolerances[256];
  errors[threadIdx.x] = sums.error_squares;
  tolerances[threadIdx.x] = sums.tolerance_squares;
  sums.wrong = __syncthreads_or(sums.wrong);
  sums.nonzero = __syncthreads_or(sums.nonzero);
  sums.noticeable = __syncthreads_or(sums.noticeable);
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      errors[threadIdx.x] += errors[threadIdx.x + half];
      tolerances[threadIdx.x] += tolerances[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  sums.error_squares = errors[0];
  sums.tolerance_squares = tolerances[0];
  parts[blockIdx.x] = sums;
}

#define WARPSMITH_COMPARE_KERNEL(name, T)                                                     \
  extern "C" __global__ void warpsmith_compare_##name(const void* got, const void* expected, \
                                                      int type, u64 count, ValueRule rule,    \
                                                      ValueSums* parts) {                     \
    CompareWith<T>(got, expected, type, count, rule, parts);                                  \
  }
WARPSMITH_COMPARE_KERNEL(float64, double)
WARPSMITH_COMPARE_KERNEL(float32, float)
WARPSMITH_COMPARE_KERNEL(float16, __half)
WARPSMITH_COMPARE_KERNEL(bfloat16, __nv_bfloat16)

// The first byte outside [hole_begin, hole_end) of `count` words that is not `pattern`'s, if it is
// below *first. Words that lie in the hole as a whole are not read.
extern "C" __global__ void warpsmith_find_damage(const unsigned int* words, u64 count,
                                                 u64 hole_begin, u64 hole_end,
                                                 unsigned int pattern, u64* first) {
  const u64 before = (hole_begin + 3) / 4, after = hole_end / 4;
  const u64 skipped = after > before ? after - before : 0;
  for (u64 i = ThreadIndex(); i < count - skipped; i += ThreadCount()) {
    const u64 word = i < before ? i : i + skipped;
    const unsigned int difference = words[word] ^ pattern;
    if (difference == 0) continue;
    for (int byte = 0; byte < 4; ++byte) {
      const u64 at = 4 * word + byte;
      if ((at < hole_begin || at >= hole_end) && ((difference >> (8 * byte)) & 0xFF) != 0) {
        atomicMin(first, at);
        break;
      }
    }
  }
}

// A sum of well-mixed (byte, place) pairs: the order of the threads does not matter. The mixing is
// the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
__device__ u64 Mix(u64 z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

extern "C" __global__ void warpsmith_digest(const unsigned char* data, u64 bytes, u64* sum) {
  u64 own = 0;
  const u64 words = bytes / 8;
  for (u64 i = ThreadIndex(); i < words; i += ThreadCount()) {
    u64 word = 0;
    if (reinterpret_cast<u64>(data) % 8 == 0) {
      word = reinterpret_cast<const u64*>(data)[i];
    } else {
      for (int byte = 7; byte >= 0; --byte) word = (word << 8) | data[8 * i + byte];
    }
    own += Mix(word ^ Mix(i));
  }
  if (ThreadIndex() == 0) {
    u64 tail = 0;
    for (u64 at = bytes; at > 8 * words; --at) tail = (tail << 8) | data[at - 1];
    own += Mix(tail ^ Mix(words)) + Mix(bytes);
  }
  atomicAdd(sum, own);
}
