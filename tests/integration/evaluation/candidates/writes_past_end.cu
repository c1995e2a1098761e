/* warpsmith
launches:
  - kernel: scale
    grid: ceil_div(n, 256)
    block: 256
    args: x, y, a, n
*/
__global__ void scale(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
  if (i == 0) y[n] = 1;  // 4 bytes past the end
}
