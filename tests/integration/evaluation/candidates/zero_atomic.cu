/* warpsmith
launches:
  - kernel: total
    grid: min(ceil_div(n, 256), 64)
    block: 256
    args: x, y, n
zero: [y]
*/
__global__ void total(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  atomicAdd(y, sum);
}
