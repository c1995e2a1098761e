/* warpsmith
launches:
  - kernel: softmax
    grid: ceil_div(rows, 32)
    block: 32
    args: x, y, rows, cols
*/
__global__ void softmax(const float* x, float* y, int rows, int cols) {
  // Through memory, so that no compiler may assume that the loop ends.
  volatile float* never = y;
  while (never[0] != 1234567.0f) {
  }
}
