/* warpsmith
let:
  threads: 32
launches:
  - kernel: softmax<float, 4>
    grid: ceil_div(rows, threads)
    block: threads
    args: x, y, rows, cols
*/
template <typename T, int Unroll>
__global__ void softmax(const T* x, T* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T largest = -INFINITY;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, x[(int64_t)row * cols + c]);
  T sum = 0;
#pragma unroll Unroll
  for (int c = 0; c < cols; ++c) sum += expf(x[(int64_t)row * cols + c] - largest);
  for (int c = 0; c < cols; ++c)
    y[(int64_t)row * cols + c] = expf(x[(int64_t)row * cols + c] - largest) / sum;
}
