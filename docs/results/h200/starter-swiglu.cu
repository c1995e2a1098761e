/* warpsmith
launches:
  - kernel: swiglu_kernel
    grid: ceil_div(rows * cols, 8192)
    block: 512
    args: g, u, y, rows * cols
*/
// vec=4 threads=512 items=4 grid=exact load=nc store=wb math=fast bounds=peel min_blocks=2
constexpr int kThreads = 512;  // of a block
constexpr int kVec = 4;  // neighbouring elements of one load
constexpr int kItems = 4;  // independent loads that a thread keeps in flight
constexpr int kTile = kThreads * kVec * kItems;  // elements of a block's step
using Index = int;

// With the hardware's exponential and division.
__device__ __forceinline__ float silu(float v) {
  return v * __fdividef(1.0f, 1.0f + fast_exp(-v));
}

// One element.
__device__ __forceinline__ float apply(float g, float u) {
  return silu(g) * u;
}

__global__ void __launch_bounds__(kThreads, 2)
    swiglu_kernel(const __nv_bfloat16* __restrict__ g, const __nv_bfloat16* __restrict__ u,
                  __nv_bfloat16* __restrict__ y, Index elements) {
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  if (tile + kTile <= elements) {
    vec<__nv_bfloat16, kVec> g_items[kItems];
    vec<__nv_bfloat16, kVec> u_items[kItems];
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
      g_items[item] = load_nc<kVec>(g + at);
      u_items[item] = load_nc<kVec>(u + at);
    }
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
      const auto& g_item = g_items[item];
      const auto& u_item = u_items[item];
      vec<__nv_bfloat16, kVec> result;
#pragma unroll
      for (int k = 0; k < kVec; ++k) {
        result[k] = from_float<__nv_bfloat16>(
            apply(to_float(g_item[k]), to_float(u_item[k])));
      }
      store_vec(y + at, result);
    }
  } else {  // the last tile
    for (Index at = tile + static_cast<int>(threadIdx.x); at < elements; at += kThreads) {
      y[at] = from_float<__nv_bfloat16>(apply(to_float(g[at]), to_float(u[at])));
    }
  }
}
