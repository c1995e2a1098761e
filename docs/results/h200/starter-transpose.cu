/* warpsmith
launches:
  - kernel: transpose_kernel
    grid: ceil_div(rows, 64) * ceil_div(cols, 64)
    block: 16, 16
    args: x, y, rows, cols
*/
// stage=shared tile=64 vec=4 pad=1 rows_per_thread=4 order=columns store=wb
constexpr int kTile = 64;  // a block moves kTile x kTile elements
constexpr int kVec = 4;  // neighbouring elements of one access
constexpr int kThreadsY = 16;
constexpr int kPad = 1;  // keeps a column's elements in different banks

// Elements [at, at + kVec) of a row of `length`.
__device__ __forceinline__ vec<float, kVec> load_part(const float* row, int at, int length) {
  if (length % kVec == 0) return load_vec<kVec>(row + at);
  vec<float, kVec> part;
#pragma unroll
  for (int k = 0; k < kVec; ++k) part[k] = at + k < length ? row[at + k] : float();
  return part;
}

// Elements [at, at + kVec) of a row of `length`.
__device__ __forceinline__ void store_part(float* row, int at, int length,
                                           const vec<float, kVec>& part) {
  if (length % kVec == 0) {
    store_vec(row + at, part);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVec; ++k)
    if (at + k < length) row[at + k] = part[k];
}

__global__ void __launch_bounds__((kTile / kVec) * kThreadsY)
    transpose_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int tiles_down = ceil_div(rows, kTile);  // neighbouring blocks share columns
  const int first_row = static_cast<int>(blockIdx.x) % tiles_down * kTile;
  const int first_column = static_cast<int>(blockIdx.x) / tiles_down * kTile;
  __shared__ float tile[kTile][kTile + kPad];

  // In: rows of the tile are rows of x.
  const int column = first_column + static_cast<int>(threadIdx.x) * kVec;
  for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
    const int row = first_row + i;
    if (row >= rows || column >= cols) break;
    const auto part = load_part(x + static_cast<long long>(row) * cols, column, cols);
#pragma unroll
    for (int k = 0; k < kVec; ++k) tile[i][threadIdx.x * kVec + k] = part[k];
  }
  __syncthreads();

  // Out: columns of the tile are rows of y.
  const int at = first_row + static_cast<int>(threadIdx.x) * kVec;
  for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
    const int out_row = first_column + i;
    if (out_row >= cols || at >= rows) break;
    vec<float, kVec> part;
#pragma unroll
    for (int k = 0; k < kVec; ++k) part[k] = tile[threadIdx.x * kVec + k][i];
    store_part(y + static_cast<long long>(out_row) * rows, at, rows, part);
  }
}
