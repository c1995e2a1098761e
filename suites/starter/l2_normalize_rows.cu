/* warpsmith
launches:
  - kernel: l2_normalize_rows
    grid:   rows
    block:  256
    args:   x, y, eps, cols
*/
// y = x / (|x| + eps), one block a row, two passes.
__global__ void l2_normalize_rows(const float* __restrict__ x, float* __restrict__ y, float eps,
                                  int cols) {
  const float* in = x + static_cast<int64_t>(blockIdx.x) * cols;
  float* out = y + static_cast<int64_t>(blockIdx.x) * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += in[c] * in[c];
  const float norm = sqrtf(block_reduce_sum(squares)) + eps;

  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = in[c] / norm;
}
