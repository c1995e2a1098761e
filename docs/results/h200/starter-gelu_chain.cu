/* warpsmith
launches:
  - kernel: gelu_chain_kernel
    grid: ceil_div(rows * cols, 2048)
    block: 128
    args: x, r, y, a, b, rows * cols
*/
// vec=4 threads=128 items=4 grid=exact load=ca store=wb math=fast bounds=predicate min_blocks=4
constexpr int kThreads = 128;  // of a block
constexpr int kVec = 4;  // neighbouring elements of one load
constexpr int kItems = 4;  // independent loads that a thread keeps in flight
constexpr int kTile = kThreads * kVec * kItems;  // elements of a block's step
using Index = int;

// torch.gelu by its tanh form: off by 5e-4 at most, and one hardware tanh instead of an erf.
__device__ __forceinline__ float gelu(float v) {
  return 0.5f * v * (1.0f + fast_tanh(0.79788456f * (v + 0.044715f * v * v * v)));
}

// One element.
__device__ __forceinline__ float apply(float x, float r, float a, float b) {
  return gelu(a * x + b) + r;
}

__global__ void __launch_bounds__(kThreads, 4)
    gelu_chain_kernel(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ r,
                      __nv_bfloat16* __restrict__ y, float a, float b, Index elements) {
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  vec<__nv_bfloat16, kVec> x_items[kItems];
  vec<__nv_bfloat16, kVec> r_items[kItems];
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    if (at + kVec <= elements) {
      x_items[item] = load_vec<kVec>(x + at);
      r_items[item] = load_vec<kVec>(r + at);
    }
  }
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    if (at + kVec > elements) break;
    const auto& x_item = x_items[item];
    const auto& r_item = r_items[item];
    vec<__nv_bfloat16, kVec> result;
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      result[k] = from_float<__nv_bfloat16>(
          apply(to_float(x_item[k]), to_float(r_item[k]), a, b));
    }
    store_vec(y + at, result);
  }
  if (blockIdx.x == 0 && threadIdx.x < elements % kVec) {
    const Index at = elements - elements % kVec + static_cast<int>(threadIdx.x);
    y[at] = from_float<__nv_bfloat16>(apply(to_float(x[at]), to_float(r[at]), a, b));
  }
}
