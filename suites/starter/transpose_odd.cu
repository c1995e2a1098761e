/* warpsmith
launches:
  - kernel: transpose_odd
    grid:   ceil_div(cols, 32), ceil_div(rows, 8)
    block:  32, 8
    args:   x, y, rows, cols
*/
// y[c][r] = x[r][c], one thread an element: reads are coalesced, writes are not.
__global__ void transpose_odd(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y,
                              int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < cols && r < rows)
    y[static_cast<int64_t>(c) * rows + r] = x[static_cast<int64_t>(r) * cols + c];
}
