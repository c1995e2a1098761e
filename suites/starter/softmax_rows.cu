/* warpsmith
launches:
  - kernel: softmax_rows
    grid:   rows
    block:  256
    args:   x, y, cols
*/
// One block a row, three passes: maximum, sum, quotient.
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  float* out = y + static_cast<int64_t>(blockIdx.x) * cols;

  float largest = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, in[c]);
  largest = block_reduce_max(largest);

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(in[c] - largest);
  sum = block_reduce_sum(sum);

  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = expf(in[c] - largest) / sum;
}
