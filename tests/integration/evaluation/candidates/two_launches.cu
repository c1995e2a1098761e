/* warpsmith
launches:
  - kernel: statistics
    grid: ceil_div(rows, 32)
    block: 32
    args: x, largest, total, rows, cols
  - kernel: normalise
    grid: ceil_div(rows * cols, 256)
    block: 256
    args: [x, largest, total, y, rows, cols]
temps:
  largest: {dtype: float32, shape: "rows"}
  total: {dtype: float32, shape: [rows]}
*/
__global__ void statistics(const float* x, float* largest, float* total, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = -INFINITY, sum = 0;
  for (int c = 0; c < cols; ++c) m = fmaxf(m, x[(int64_t)row * cols + c]);
  for (int c = 0; c < cols; ++c) sum += expf(x[(int64_t)row * cols + c] - m);
  largest[row] = m;
  total[row] = sum;
}
__global__ void normalise(const float* x, const float* largest, const float* total, float* y, int rows,
                          int cols) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (int64_t)rows * cols) return;
  const int row = i / cols;
  y[i] = expf(x[i] - largest[row]) / total[row];
}
