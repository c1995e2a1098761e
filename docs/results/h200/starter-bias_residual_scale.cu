/* warpsmith
launches:
  - kernel: bias_residual_scale_kernel
    grid: ceil_div(rows * cols, 512)
    block: 128
    args: x, r, bias, y, s, rows * cols, cols
*/
// vec=2 threads=128 items=2 grid=exact load=ca store=cs math=exact bounds=peel min_blocks=2
constexpr int kThreads = 128;  // of a block
constexpr int kVec = 2;  // neighbouring elements of one load
constexpr int kItems = 2;  // independent loads that a thread keeps in flight
constexpr int kTile = kThreads * kVec * kItems;  // elements of a block's step
using Index = int;

// One element.
__device__ __forceinline__ float apply(float x, float r, float bias, float s) {
  return (x + bias) * s + r;
}

__global__ void __launch_bounds__(kThreads, 2)
    bias_residual_scale_kernel(const float* __restrict__ x, const float* __restrict__ r,
                               const float* __restrict__ bias, float* __restrict__ y, float s,
                               Index elements, int cols) {
  const Index tile = static_cast<Index>(blockIdx.x) * kTile;
  if (tile + kTile <= elements) {
    vec<float, kVec> x_items[kItems];
    vec<float, kVec> r_items[kItems];
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
      x_items[item] = load_vec<kVec>(x + at);
      r_items[item] = load_vec<kVec>(r + at);
    }
#pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
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
      store_cs(y + at, result);
    }
  } else {  // the last tile
    for (Index at = tile + static_cast<int>(threadIdx.x); at < elements; at += kThreads) {
      int column = static_cast<int>(at % cols);
      y[at] = from_float<float>(apply(to_float(x[at]), to_float(r[at]), to_float(bias[column]), s));
    }
  }
}
