/* warpsmith
launches:
  - kernel: softmax
    grid: ceil_div(rows, 32)
    block: 32
    args: x, y, rows, cols
*/
// A compiler takes every quote within a number into it; a careless reader sees a comment begin here.
#define NEVER_USED 1'g'/*'
#include "/etc/hostname"
/* */
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = -INFINITY;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, x[(int64_t)row * cols + c]);
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += expf(x[(int64_t)row * cols + c] - largest);
  for (int c = 0; c < cols; ++c)
    y[(int64_t)row * cols + c] = expf(x[(int64_t)row * cols + c] - largest) / sum;
}
