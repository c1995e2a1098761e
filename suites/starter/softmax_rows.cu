/* warpsmith
let:
  rows_per_block: 4
launches:
  - kernel: softmax_rows
    grid:   ceil_div(rows, rows_per_block)
    block:  32, rows_per_block
    args:   x, y, rows, cols
*/
// One warp a row, three passes: maximum, sum, quotient.
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int rows,
                             int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // the whole warp
  const float* in = x + static_cast<int64_t>(row) * cols;
  float* out = y + static_cast<int64_t>(row) * cols;

  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 32) largest = fmaxf(largest, in[c]);
  largest = warp_reduce_max(largest);

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - largest);
  sum = warp_reduce_sum(sum);

  for (int c = threadIdx.x; c < cols; c += 32) out[c] = expf(in[c] - largest) / sum;
}
