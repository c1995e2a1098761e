/* warpsmith
launches:
  - kernel: swiglu
    grid:   ceil_div(rows * cols, 256)
    block:  256
    args:   g, u, y, rows * cols
*/
// y = silu(g) * u, one thread an element.
__global__ void swiglu(const __nv_bfloat16* __restrict__ g, const __nv_bfloat16* __restrict__ u,
                       __nv_bfloat16* __restrict__ y, int64_t n) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float gate = __bfloat162float(g[i]);
  const float silu = gate / (1.0f + expf(-gate));
  y[i] = __float2bfloat16(silu * __bfloat162float(u[i]));
}
