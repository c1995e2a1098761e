/* warpsmith
launches:
  - kernel: rms_norm_rows
    grid:   rows
    block:  256
    args:   x, w, y, eps, cols
*/
// y = x / sqrt(mean(x * x) + eps) * w, one block a row, two passes, sums in float32.
__global__ void rms_norm_rows(const __nv_bfloat16* __restrict__ x,
                              const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
                              float eps, int cols) {
  const __nv_bfloat16* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  __nv_bfloat16* out = y + static_cast<int64_t>(blockIdx.x) * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = __bfloat162float(in[c]);
    squares += v * v;
  }
  const float scale = rsqrtf(block_reduce_sum(squares) / cols + eps);

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(w[c]));
}
