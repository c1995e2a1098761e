/* warpsmith
launches:
  - kernel: softmax
    grid: ceil_div(rows, 32)
    block: 32
    args: x, y, rows, cols
*/
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

__global__ void softmax(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  static_assert(std::is_same_v<uint32_t, unsigned> && sizeof(int64_t) == 8 && sizeof(uintptr_t) == 8);
  static_assert(INT_MAX == 2147483647 && M_PI > 3.14);
  static_assert(std::is_same_v<std::common_type_t<int, float>, float> && !std::is_signed_v<uint8_t>);
  float largest = -FLT_MAX;
  for (int c = 0; c < cols; ++c) largest = std::max(largest, x[(int64_t)row * cols + c]);
  float sum = 0;
  for (int c = 0; c < cols; ++c) sum += expf(x[(int64_t)row * cols + c] - largest);
  for (int c = 0; c < cols; ++c)
    y[(int64_t)row * cols + c] = expf(x[(int64_t)row * cols + c] - largest) / sum;
}
