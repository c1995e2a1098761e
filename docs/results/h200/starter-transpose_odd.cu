/* warpsmith
launches:
  - kernel: transpose_odd_kernel
    grid: ceil_div(rows, 32) * ceil_div(cols, 32)
    block: 16, 8
    args: x, y, rows, cols
*/
// stage=gather tile=32 vec=2 pad=0 rows_per_thread=4 order=columns store=cs
constexpr int kTile = 32;  // a block moves kTile x kTile elements
constexpr int kVec = 2;  // neighbouring elements of one access
constexpr int kThreadsY = 8;

// Elements [at, at + kVec) of a row of `length`.
__device__ __forceinline__ void store_part(__nv_bfloat16* row, int at, int length,
                                           const vec<__nv_bfloat16, kVec>& part) {
  if (length % kVec == 0) {
    store_cs(row + at, part);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVec; ++k)
    if (at + k < length) row[at + k] = part[k];
}

__global__ void __launch_bounds__((kTile / kVec) * kThreadsY)
    transpose_odd_kernel(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, int rows, int cols) {
  const int tiles_down = ceil_div(rows, kTile);  // neighbouring blocks share columns
  const int first_row = static_cast<int>(blockIdx.x) % tiles_down * kTile;
  const int first_column = static_cast<int>(blockIdx.x) / tiles_down * kTile;
  // Strided reads, contiguous writes.
  const int at = first_row + static_cast<int>(threadIdx.x) * kVec;
  for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
    const int column = first_column + i;
    if (column >= cols || at >= rows) break;
    vec<__nv_bfloat16, kVec> part;
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      part[k] = at + k < rows ? x[static_cast<long long>(at + k) * cols + column] : __nv_bfloat16();
    store_part(y + static_cast<long long>(column) * rows, at, rows, part);
  }
}
