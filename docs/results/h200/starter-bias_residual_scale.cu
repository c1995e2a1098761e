/* warpsmith
launches:
  - kernel: bias_residual_scale_kernel
    grid: ceil_div(rows * cols, 2048)
    block: 512
    args: x, r, bias, y, s, rows * cols, cols
*/
// vec=4 threads=512 items=1 grid=exact load=nc store=wb math=exact bounds=predicate min_blocks=4
constexpr int kThreads = 512;  // of a block
constexpr int kVec = 4;  // neighbouring elements of one load
constexpr int kItems = 1;  // independent loads that a thread keeps in flight
constexpr int kTile = kThreads * kVec * kItems;  // elements of a block's step
using Index = int;

// One element.
__device__ __forceinline__ float apply(float x, float r, float bias, float s) {
  return (x + bias) * s + r;
}

__global__ void __launch_bounds__(kThreads, 4)
    bias_residual_scale_kernel(const float* __restrict__ x, const float* __restrict__ r,
                               const float* __restrict__ bias, float* __restrict__ y, float s,
                               Index elements, int cols) {
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  vec<float, kVec> x_items[kItems];
  vec<float, kVec> r_items[kItems];
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    if (at + kVec <= elements) {
      x_items[item] = load_nc<kVec>(x + at);
      r_items[item] = load_nc<kVec>(r + at);
    }
  }
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    if (at + kVec > elements) break;
    const auto& x_item = x_items[item];
    const auto& r_item = r_items[item];
    int column = static_cast<int>(at % cols);
    vec<float, kVec> result;
    if (column + kVec <= cols) {
#pragma unroll
      for (int k = 0; k < kVec; ++k) {
        result[k] = from_float<float>(
            apply(to_float(x_item[k]), to_float(r_item[k]), to_float(bias[column + k]), s));
      }
    } else {  // across the end of a row
#pragma unroll
      for (int k = 0; k < kVec; ++k) {
        result[k] = from_float<float>(
            apply(to_float(x_item[k]), to_float(r_item[k]), to_float(bias[column]), s));
        if (++column == cols) column = 0;
      }
    }
    store_vec(y + at, result);
  }
  if (blockIdx.x == 0 && threadIdx.x < elements % kVec) {
    const Index at = elements - elements % kVec + static_cast<int>(threadIdx.x);
    int column = static_cast<int>(at % cols);
    y[at] = from_float<float>(apply(to_float(x[at]), to_float(r[at]), to_float(bias[column]), s));
  }
}
