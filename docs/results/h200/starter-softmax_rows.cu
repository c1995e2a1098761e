/* warpsmith
launches:
  - kernel: softmax_rows_kernel
    grid: ceil_div(rows, 4)
    block: 128, 4
    shared: 16 * ceil_div(cols, 256) * 256
    args: x, y, rows, cols
*/
// lanes=128 rows=4 vec=2 cache=smem passes=one unroll=4 grid=exact store=wb math=fast
constexpr int kLanes = 128;  // threads that share a row
constexpr int kRows = 4;  // rows of a block
constexpr int kVec = 2;  // neighbouring elements of one load: a part of the row
constexpr float kLargest = 3.402823466e38f;  // finite

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
    softmax_rows_kernel(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int lane = threadIdx.x;
  // Each thread's own parts of its row, element by element, so that neighbouring threads use
  // neighbouring banks and no barrier is needed.
  extern __shared__ float staged[];
  const int stage_elements = ceil_div(cols, 256) * 256;
  float* row_stage = staged + threadIdx.y * stage_elements + lane;
  const int row = blockIdx.x * kRows + threadIdx.y;
  const int row_cols = row < rows ? cols : 0;
  const float* x_row = x + static_cast<long long>(row) * cols;
  float* y_row = y + static_cast<long long>(row) * cols;
  for (int column = lane * kVec, i = 0; column < row_cols; column += kLanes * kVec, ++i) {
    const vec<float, kVec> x_part = load_part(x_row, column, cols);
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      row_stage[(i * kVec + k) * kLanes] = x_part[k];
    }
  }

  // Pass 1: row_max, row_sum.
  vec<float, kVec> row_max_k;
  vec<float, kVec> row_sum_k;
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    row_max_k[k] = -kLargest;
    row_sum_k[k] = 0.0f;
  }
#pragma unroll 4
  for (int column = lane * kVec, i = 0; column < row_cols; column += kLanes * kVec, ++i) {
    vec<float, kVec> x_part;
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      x_part[k] = row_stage[(i * kVec + k) * kLanes];
    }
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      const bool inside = column + k < cols;
      {
        const float row_sum_term = x_part[k];
        const float value = inside ? row_sum_term : -kLargest;
        const float largest = value > row_max_k[k] ? value : row_max_k[k];
        const float rescaled = row_sum_k[k] * fast_exp(row_max_k[k] - largest);
        const float added = fast_exp(value - largest);
        row_sum_k[k] = rescaled + (inside ? added : 0.0f);
        row_max_k[k] = largest;
      }
    }
  }
  float row_max = -kLargest;
#pragma unroll
  for (int k = 0; k < kVec; ++k) row_max = row_max_k[k] > row_max ? row_max_k[k] : row_max;
  row_max = reduce_row(row_max, warpsmith_max());
  float row_sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kVec; ++k) row_sum += row_sum_k[k] * fast_exp(row_max_k[k] - row_max);
  row_sum = reduce_row(row_sum, warpsmith_sum());

  // The result.
#pragma unroll 4
  for (int column = lane * kVec, i = 0; column < row_cols; column += kLanes * kVec, ++i) {
    vec<float, kVec> x_part;
#pragma unroll
    for (int k = 0; k < kVec; ++k) {
      x_part[k] = row_stage[(i * kVec + k) * kLanes];
    }
    vec<float, kVec> result;
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      result[k] = from_float<float>(__fdividef(fast_exp(x_part[k] - row_max), row_sum));
    store_part(y_row, column, cols, result);
  }
}
