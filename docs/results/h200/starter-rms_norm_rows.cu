/* warpsmith
launches:
  - kernel: rms_norm_rows_kernel
    grid: ceil_div(rows, 1)
    block: 128, 1
    shared: 0
    args: x, w, y, eps, rows, cols
*/
// lanes=128 rows=1 vec=8 cache=none passes=two unroll=4 grid=exact store=wb math=exact
constexpr int kLanes = 128;  // threads that share a row
constexpr int kRows = 1;  // rows of a block
constexpr int kVec = 8;  // neighbouring elements of one load: a part of the row

// The part of a row that starts at `column`, as floats; 0 beyond the row's end. Rows whose length
// is no multiple of kVec do not start aligned and are read one by one.
template <typename T>
__device__ __forceinline__ vec<float, kVec> load_part(const T* row, int column, int cols) {
  vec<float, kVec> part;
  if (cols % kVec == 0) {
    const vec<T, kVec> raw = load_vec<kVec>(row + column);
#pragma unroll
    for (int k = 0; k < kVec; ++k) part[k] = to_float(raw[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kVec; ++k) part[k] = column + k < cols ? to_float(row[column + k]) : 0.0f;
  }
  return part;
}

template <typename T>
__device__ __forceinline__ void store_part(T* row, int column, int cols, const vec<T, kVec>& part) {
  if (cols % kVec == 0) {
    store_vec(row + column, part);
  } else {
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      if (column + k < cols) row[column + k] = part[k];
  }
}

// Combines the values of the threads of each row; all threads of the block must call it.
template <typename Op>
__device__ float reduce_row(float value, Op op) {
  __shared__ float partial[kRows][kLanes / 32];
  value = warp_reduce(value, op);
  if (threadIdx.x % 32 == 0) partial[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[threadIdx.y][0];
  for (int warp = 1; warp < kLanes / 32; ++warp) value = op(value, partial[threadIdx.y][warp]);
  __syncthreads();  // before the next call writes partial
  return value;
}

__global__ void __launch_bounds__(kLanes * kRows)
    rms_norm_rows_kernel(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         __nv_bfloat16* __restrict__ y, float eps, int rows, int cols) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int row_cols = row < rows ? cols : 0;
  const __nv_bfloat16* x_row = x + static_cast<long long>(row) * cols;
  __nv_bfloat16* y_row = y + static_cast<long long>(row) * cols;

  // Pass 1: mean_square.
  vec<float, kVec> mean_square_k;
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    mean_square_k[k] = 0.0f;
  }
#pragma unroll 4
  for (int column = lane * kVec; column < row_cols; column += kLanes * kVec) {
    const vec<float, kVec> x_part = load_part(x_row, column, cols);
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      const bool inside = column + k < cols;
      const float mean_square_term = x_part[k] * x_part[k];
      mean_square_k[k] += inside ? mean_square_term : 0.0f;
    }
  }
  float mean_square = 0.0f;
#pragma unroll
  for (int k = 0; k < kVec; ++k) mean_square += mean_square_k[k];
  mean_square = reduce_row(mean_square, warpsmith_sum());
  mean_square = mean_square / static_cast<float>(cols);

  // The result.
#pragma unroll 4
  for (int column = lane * kVec; column < row_cols; column += kLanes * kVec) {
    const vec<float, kVec> x_part = load_part(x_row, column, cols);
    const vec<float, kVec> w_part = load_part(w, column, cols);
    vec<__nv_bfloat16, kVec> result;
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      result[k] = from_float<__nv_bfloat16>(x_part[k] * rsqrtf(mean_square + eps) * w_part[k]);
    store_part(y_row, column, cols, result);
  }
}
