/* warpsmith
launches:
  - kernel: l2_normalize_rows_kernel
    grid: ceil_div(rows, 2)
    block: 64, 2
    shared: 0
    args: x, y, eps, rows, cols
*/
// lanes=64 rows=2 vec=4 cache=reg passes=two unroll=1 grid=exact store=wb math=fast
constexpr int kLanes = 64;  // threads that share a row
constexpr int kRows = 2;  // rows of a block
constexpr int kVec = 4;  // neighbouring elements of one load: a part of the row
constexpr int kParts = 16;  // parts of a row that a thread keeps in registers

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
    l2_normalize_rows_kernel(const float* __restrict__ x, float* __restrict__ y, float eps,
                             int rows, int cols) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int row_cols = row < rows ? cols : 0;
  const float* x_row = x + static_cast<long long>(row) * cols;
  float* y_row = y + static_cast<long long>(row) * cols;
  vec<float, kVec> x_parts[kParts];
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int column = (i * kLanes + lane) * kVec;
    if (column < row_cols) {
      x_parts[i] = load_part(x_row, column, cols);
    }
  }

  // Pass 1: row_sum.
  vec<float, kVec> row_sum_k;
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    row_sum_k[k] = 0.0f;
  }
  const auto pass_1 = [&](int column, const vec<float, kVec>& x_part) {
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      const bool inside = column + k < cols;
      const float row_sum_term = x_part[k] * x_part[k];
      row_sum_k[k] += inside ? row_sum_term : 0.0f;
    }
  };
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int column = (i * kLanes + lane) * kVec;
    if (column < row_cols) pass_1(column, x_parts[i]);
  }
  for (int column = (kParts * kLanes + lane) * kVec; column < row_cols; column += kLanes * kVec)
    pass_1(column, load_part(x_row, column, cols));  // what is left of a longer row
  float row_sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kVec; ++k) row_sum += row_sum_k[k];
  row_sum = reduce_row(row_sum, warpsmith_sum());

  // The result.
  const auto write = [&](int column, const vec<float, kVec>& x_part) {
    vec<float, kVec> result;
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      result[k] = from_float<float>(__fdividef(x_part[k], sqrtf(row_sum) + eps));
    store_part(y_row, column, cols, result);
  };
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const int column = (i * kLanes + lane) * kVec;
    if (column < row_cols) write(column, x_parts[i]);
  }
  for (int column = (kParts * kLanes + lane) * kVec; column < row_cols; column += kLanes * kVec)
    write(column, load_part(x_row, column, cols));  // what is left of a longer row
}
