/* warpsmith
let:
  rows_per_block: 4
launches:
  - kernel: l2_normalize_rows
    grid:   ceil_div(rows, rows_per_block)
    block:  32, rows_per_block
    args:   x, y, eps, rows, cols
*/
// y = x / (|x| + eps), one warp a row, two passes.
__global__ void l2_normalize_rows(const float* __restrict__ x, float* __restrict__ y, float eps,
                                  int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // the whole warp
  const float* in = x + static_cast<int64_t>(row) * cols;
  float* out = y + static_cast<int64_t>(row) * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) squares += in[c] * in[c];
  const float norm = sqrtf(warp_reduce_sum(squares)) + eps;

  for (int c = threadIdx.x; c < cols; c += 32) out[c] = in[c] / norm;
}
