/* warpsmith
launches:
  - kernel: gelu_chain
    grid:   ceil_div(rows * cols, 256)
    block:  256
    args:   x, r, y, a, b, rows * cols
*/
// y = gelu(a * x + b) + r, one thread an element.
__global__ void gelu_chain(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ r,
                           __nv_bfloat16* __restrict__ y, float a, float b, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = a * __bfloat162float(x[i]) + b;
  const float gelu = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  y[i] = __float2bfloat16(gelu + __bfloat162float(r[i]));
}
