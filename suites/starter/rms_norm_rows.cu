/* warpsmith
let:
  rows_per_block: 4
launches:
  - kernel: rms_norm_rows
    grid:   ceil_div(rows, rows_per_block)
    block:  32, rows_per_block
    args:   x, w, y, eps, rows, cols
*/
// y = x / sqrt(mean(x * x) + eps) * w, one warp a row, two passes, sums in float32.
__global__ void rms_norm_rows(const __nv_bfloat16* __restrict__ x,
                              const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
                              float eps, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // the whole warp
  const __nv_bfloat16* in = x + static_cast<int64_t>(row) * cols;
  __nv_bfloat16* out = y + static_cast<int64_t>(row) * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = __bfloat162float(in[c]);
    squares += v * v;
  }
  const float scale = rsqrtf(warp_reduce_sum(squares) / cols + eps);

  for (int c = threadIdx.x; c < cols; c += 32)
    out[c] = __float2bfloat16(__bfloat162float(in[c]) * scale * __bfloat162float(w[c]));
}
