// Kernels as people publish them, run on the CPU and compared with plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "common/base/random.h"
#include "worker/host/test_lane.h"

namespace warpsmith {
namespace {

std::vector<float> Draws(size_t count, uint64_t seed = 1) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Uniform() * 4 - 2);
  return values;
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& expected,
                float tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], tolerance * (1 + std::fabs(expected[i]))) << "element " << i;
}

void MustRun(const Outcome& outcome) { ASSERT_TRUE(IsCorrect(outcome)) << Describe(outcome); }

TEST(HostKernels, ReluIsAPlainLoop) {
  const auto x = Draws(1000);
  TestLane lane;
  lane.Dim("n", 1000).Floats("x", x).Output("y", Dtype::kFloat32, 1000);
  MustRun(lane.Run(Candidate("relu", "ceil_div(n, 128)", "128", "x, y, n", R"(
__global__ void relu(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
})")));
  std::vector<float> expected(1000);
  std::transform(x.begin(), x.end(), expected.begin(), [](float v) { return std::max(v, 0.0f); });
  EXPECT_EQ(lane.Floats("y"), expected);
}

std::vector<float> Softmax(const std::vector<float>& x, size_t rows, size_t cols) {
  std::vector<float> y(x.size());
  for (size_t r = 0; r < rows; ++r) {
    const float* row = &x[r * cols];
    const float top = *std::max_element(row, row + cols);
    double sum = 0;
    for (size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(row[c] - top));
    for (size_t c = 0; c < cols; ++c)
      y[r * cols + c] = static_cast<float>(std::exp(static_cast<double>(row[c] - top)) / sum);
  }
  return y;
}

TEST(HostKernels, SoftmaxWithBlockReductionsOfThePrelude) {
  const auto x = Draws(3 * 501);
  for (const char* block : {"128", "100", "32", "7", "16, 9"}) {
    TestLane lane;
    lane.Dim("rows", 3).Dim("cols", 501).Floats("x", x).Output("y", Dtype::kFloat32, 3 * 501);
    MustRun(lane.Run(Candidate("softmax_rows", "rows", block, "x, y, cols", R"(
__global__ void softmax_rows(const float* x, float* y, int cols) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float top = -INFINITY;
  for (int c = thread_rank(); c < cols; c += thread_count()) top = fmaxf(top, x[c]);
  top = block_reduce_max(top);
  float sum = 0;
  for (int c = thread_rank(); c < cols; c += thread_count()) sum += expf(x[c] - top);
  sum = block_reduce_sum(sum);
  for (int c = thread_rank(); c < cols; c += thread_count()) y[c] = expf(x[c] - top) / sum;
})"),
                     2));
    ExpectNear(lane.Floats("y"), Softmax(x, 3, 501), 1e-5f);
  }
}

TEST(HostKernels, SoftmaxWithAWarpARowAndTheAuthorsOwnHelpers) {
  const auto x = Draws(10 * 77);
  TestLane lane;
  lane.Dim("rows", 10).Dim("cols", 77).Floats("x", x).Output("y", Dtype::kFloat32, 770);
  MustRun(
      lane.Run(Candidate("softmax_warp<4>", "ceil_div(rows, 4)", "32, 4", "x, y, rows, cols", R"(
#define FULL_MASK 0xffffffff
template <typename T> __device__ __forceinline__ T warp_reduce_sum(T v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(FULL_MASK, v, o);
  return v;
}
__device__ float warpReduceMax(float v) {
  for (int o = 16; o > 0; o >>= 1) v = max(v, __shfl_down_sync(FULL_MASK, v, o));
  return __shfl_sync(FULL_MASK, v, 0);
}
template <int RowsPerBlock>
__global__ void __launch_bounds__(32 * RowsPerBlock)
    softmax_warp(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  const int row = blockIdx.x * RowsPerBlock + threadIdx.y;
  if (row >= rows) return;
  float top = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += warpSize) top = max(top, __ldg(&x[row * cols + c]));
  top = warpReduceMax(top);
  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += warpSize) sum += __expf(x[row * cols + c] - top);
  sum = warp_reduce_sum(sum);
  for (int c = threadIdx.x; c < cols; c += warpSize)
    y[row * cols + c] = __fdividef(__expf(x[row * cols + c] - top), sum);
})")));
  ExpectNear(lane.Floats("y"), Softmax(x, 10, 77), 1e-5f);
}

TEST(HostKernels, DynamicSharedMemoryHasOneStartUnderAllNames) {
  const auto x = Draws(256);
  TestLane lane;
  lane.Dim("n", 256).Floats("x", x).Output("y", Dtype::kFloat32, 256);
  MustRun(lane.Run(Candidate("reverse", "1", "n", "x, y, n", R"(
extern __shared__ __align__(16) unsigned char raw[];
__global__ void reverse(const float* x, float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  const float* same = reinterpret_cast<float*>(raw);
  y[threadIdx.x] = same[n - 1 - threadIdx.x];
})",
                             "4 * n"),
                   2));
  auto expected = x;
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(lane.Floats("y"), expected);
}

TEST(HostKernels, TiledMatmul) {
  constexpr int kM = 37, kN = 45, kK = 50;
  const auto a = Draws(kM * kK, 2), b = Draws(kK * kN, 3);
  TestLane lane(2);
  lane.Dim("m", kM).Dim("n", kN).Dim("k", kK).Floats("a", a).Floats("b", b).Output(
      "c", Dtype::kFloat32, kM * kN);
  MustRun(lane.Run(
      Candidate("matmul", "ceil_div(n, 16), ceil_div(m, 16)", "16, 16", "a, b, c, m, n, k", R"(
#define TILE 16
__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = row < M && ac < K ? A[row * K + ac] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = br < K && col < N ? B[br * N + col] : 0.0f;
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < TILE; ++i) acc += As[threadIdx.y][i] * Bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
})"),
      2));
  std::vector<float> expected(kM * kN);
  for (int i = 0; i < kM; ++i)
    for (int j = 0; j < kN; ++j)
      for (int k = 0; k < kK; ++k) expected[i * kN + j] += a[i * kK + k] * b[k * kN + j];
  ExpectNear(lane.Floats("c"), expected, 1e-4f);
}

uint16_t Bf16(float v) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16); }
float FromBf16(uint16_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v) << 16); }

TEST(HostKernels, RmsNormOfBfloat16InVectorsOfEight) {
  constexpr int kRows = 5, kCols = 264;
  auto x = Draws(kRows * kCols, 4), w = Draws(kCols, 5);
  std::vector<uint16_t> xb(x.size()), wb(w.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = FromBf16(xb[i] = Bf16(x[i]));
  for (size_t i = 0; i < w.size(); ++i) w[i] = FromBf16(wb[i] = Bf16(w[i]));
  TestLane lane;
  lane.Dim("rows", kRows)
      .Dim("cols", kCols)
      .Input("x", Dtype::kBFloat16, xb)
      .Input("w", Dtype::kBFloat16, wb)
      .Scalar("eps", Dtype::kFloat32, 1e-5)
      .Output("y", Dtype::kBFloat16, kRows * kCols);
  MustRun(lane.Run(Candidate("rms_norm", "rows", "32", "x, w, y, cols, eps", R"(
#include <cuda_bf16.h>
__global__ void rms_norm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                         __nv_bfloat16* __restrict__ y, int cols, float eps) {
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  float sum = 0;
  for (int c = threadIdx.x * 8; c < cols; c += 32 * 8) {
    const auto v = load_cs<8>(x + c);
    for (int i = 0; i < 8; ++i) sum += to_float(v[i]) * to_float(v[i]);
  }
  const float scale = rsqrtf(warp_reduce_sum(sum) / cols + eps);
  for (int c = threadIdx.x * 8; c < cols; c += 32 * 8) {
    auto v = load_vec<8>(x + c);
    const auto g = load_nc<8>(w + c);
    for (int i = 0; i < 8; ++i)
      v[i] = from_float<__nv_bfloat16>(to_float(v[i]) * scale * to_float(g[i]));
    store_cs(y + c, v);
  }
})")));
  const auto y = lane.Get<uint16_t>("y");
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kCols; ++c) sum += static_cast<double>(x[r * kCols + c]) * x[r * kCols + c];
    const double scale = 1 / std::sqrt(sum / kCols + 1e-5);
    for (int c = 0; c < kCols; ++c) {
      const double expected = x[r * kCols + c] * scale * w[c];
      ASSERT_NEAR(FromBf16(y[r * kCols + c]), expected, 1e-2 * (std::fabs(expected) + 1e-3));
    }
  }
}

TEST(HostKernels, GridWideReductionWithAtomicsIntoAZeroedOutput) {
  std::vector<float> x(5000);
  std::iota(x.begin(), x.end(), 0.0f);
  TestLane lane(2);
  lane.Dim("n", 5000).Floats("x", x).Output("y", Dtype::kFloat32, 1);
  MustRun(lane.Run(R"(/* warpsmith
launches:
  - {kernel: total, grid: "8", block: "96", args: "x, y, n"}
zero: [y]
*/
__global__ void total(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  sum = block_reduce_sum(sum);
  if (threadIdx.x == 0) atomicAdd(y, sum);
})",
                   3));
  EXPECT_NEAR(lane.Floats("y")[0], 12497500.0f, 8.0f);
}

TEST(HostKernels, ArgminThroughPackedShuffles) {
  const auto x = Draws(4 * 300, 6);
  TestLane lane;
  lane.Dim("rows", 4).Dim("cols", 300).Floats("x", x).Output("y", Dtype::kInt64, 4);
  MustRun(lane.Run(Candidate("argmin", "rows", "64", "x, y, cols", R"(
__global__ void argmin(const float* x, int64_t* y, int cols) {
  float best = INFINITY;
  int at = -1;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = x[blockIdx.x * cols + c];
    if (v < best) { best = v; at = c; }
  }
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_down_sync(0xffffffff, best, o);
    const int other_at = __shfl_down_sync(0xffffffff, at, o);
    if (other < best) { best = other; at = other_at; }
  }
  __shared__ float bests[2];
  __shared__ int ats[2];
  if (threadIdx.x % 32 == 0) { bests[threadIdx.x / 32] = best; ats[threadIdx.x / 32] = at; }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = bests[1] < bests[0] ? ats[1] : ats[0];
})")));
  for (int r = 0; r < 4; ++r) {
    const auto row = x.begin() + r * 300;
    EXPECT_EQ(lane.Get<int64_t>("y")[r], std::min_element(row, row + 300) - row);
  }
}

TEST(HostKernels, EveryShuffleVoteMatchAndReduction) {
  TestLane lane;
  lane.Output("y", Dtype::kInt32, 32 * 16);
  MustRun(lane.Run(Candidate("probe", "1", "32", "y", R"(
__global__ void probe(int* y) {
  const int l = threadIdx.x;
  int* out = y + l * 16;
  out[0] = __shfl_sync(~0u, l * 10, 5);
  out[1] = __shfl_sync(~0u, l * 10, 3, 8);
  out[2] = __shfl_up_sync(~0u, l, 3);
  out[3] = __shfl_down_sync(~0u, l, 3, 16);
  out[4] = __shfl_xor_sync(~0u, l, 1);
  out[5] = static_cast<int>(__ballot_sync(~0u, l % 3 == 0));
  out[6] = __any_sync(~0u, l == 7);
  out[7] = __all_sync(~0u, l >= 0);
  out[8] = static_cast<int>(__match_any_sync(~0u, l / 8));
  int all;
  out[9] = static_cast<int>(__match_all_sync(~0u, 4, &all)) + all;
  out[10] = __reduce_add_sync(~0u, l);
  out[11] = __reduce_min_sync(~0u, l - 16);
  out[12] = static_cast<int>(__reduce_max_sync(~0u, static_cast<unsigned>(l)));
  out[13] = static_cast<int>(__shfl_sync(~0u, static_cast<double>(l) * 1e10, 31) / 1e10);
  out[14] = __syncthreads_count(l < 9) + __syncthreads_or(l == 40) + __syncthreads_and(l < 32);
  out[15] = l < 16 ? __shfl_xor_sync(0xffffu, l, 8) : -1;
  __syncwarp();
})")));
  const auto y = lane.Get<int32_t>("y");
  for (int l = 0; l < 32; ++l) {
    const int* out = &y[l * 16];
    EXPECT_EQ(out[0], 50);
    EXPECT_EQ(out[1], (l / 8 * 8 + 3) * 10);
    EXPECT_EQ(out[2], l >= 3 ? l - 3 : l);
    EXPECT_EQ(out[3], l % 16 + 3 < 16 ? l + 3 : l);
    EXPECT_EQ(out[4], l ^ 1);
    EXPECT_EQ(static_cast<uint32_t>(out[5]), 0x49249249u);
    EXPECT_EQ(out[6], 1);
    EXPECT_EQ(out[7], 1);
    EXPECT_EQ(static_cast<uint32_t>(out[8]), 0xffu << l / 8 * 8);
    EXPECT_EQ(out[9], 0);  // all lanes, and 1 for "all the same"
    EXPECT_EQ(out[10], 496);
    EXPECT_EQ(out[11], -16);
    EXPECT_EQ(out[12], 31);
    EXPECT_EQ(out[13], 31);
    EXPECT_EQ(out[14], 10);
    EXPECT_EQ(out[15], l < 16 ? l ^ 8 : -1);
  }
}

TEST(HostKernels, HistogramOnTwoWorkers) {
  std::vector<int32_t> x(20000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i * i % 64);
  TestLane lane(2);
  lane.Dim("n", 20000).Input("x", Dtype::kInt32, x).Output("y", Dtype::kInt32, 64);
  MustRun(lane.Run(R"(/* warpsmith
launches:
  - {kernel: histogram, grid: "50", block: "64", args: "x, y, n"}
zero: [y]
*/
__global__ void histogram(const int* x, int* y, int n) {
  __shared__ int bins[64];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) atomicAdd(&bins[x[i]], 1);
  __syncthreads();
  atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
})",
                   2));
  std::vector<int32_t> expected(64);
  for (const int32_t v : x) ++expected[v];
  EXPECT_EQ(lane.Get<int32_t>("y"), expected);
}

TEST(HostKernels, ActiveMaskSeesWhoCameThisWay) {
  TestLane lane;
  lane.Output("y", Dtype::kInt32, 32);
  MustRun(lane.Run(Candidate("active", "1", "32", "y", R"(
__global__ void active(int* y) {
  if (threadIdx.x < 10)
    y[threadIdx.x] = static_cast<int>(__activemask());
  else
    y[threadIdx.x] = __popc(__activemask());
})")));
  const auto y = lane.Get<int32_t>("y");
  EXPECT_EQ(y[3], 0x3ff);
  EXPECT_EQ(y[20], 22);
}

TEST(HostKernels, HalfAxpyRoundsOnceForEachOperation) {
  std::vector<uint16_t> x = {0x3c00, 0x4000, 0x0001,
                             0x7bff, 0xbc00, 0x3555};  // 1 2 least most -1 1/3
  TestLane lane;
  lane.Dim("n", 6)
      .Input("x", Dtype::kFloat16, x)
      .Output("y", Dtype::kFloat16, 6)
      .Output("z", Dtype::kFloat32, 6);
  MustRun(lane.Run(Candidate("axpy", "1", "32", "x, y, z, n", R"(
#include <cuda_fp16.h>
__global__ void axpy(const half* x, __half* y, float* z, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  y[i] = __hfma(__float2half(2.0f), x[i], __float2half(0.5f));
  z[i] = __half2float(x[i]) + float(x[i] * x[i] + __float2half(0.f));
})")));
  EXPECT_EQ(lane.Get<uint16_t>("y"),
            (std::vector<uint16_t>{0x4100, 0x4480, 0x3800, 0x7c00, 0xbe00, 0x3caa}));
  EXPECT_FLOAT_EQ(lane.Floats("z")[1], 6.0f);
  EXPECT_FLOAT_EQ(lane.Floats("z")[2], 0x1p-24f);
}

TEST(HostKernels, TransposeThroughPaddedTiles) {
  constexpr int kRows = 45, kCols = 70;
  const auto x = Draws(kRows * kCols, 8);
  TestLane lane;
  lane.Dim("rows", kRows)
      .Dim("cols", kCols)
      .Floats("x", x)
      .Output("y", Dtype::kFloat32, kRows * kCols);
  MustRun(lane.Run(Candidate("transpose<32, 8>", "ceil_div(cols, 32), ceil_div(rows, 32)", "32, 8",
                             "x, y, rows, cols", R"(
namespace detail { constexpr int kPad = 1; }
template <int Tile, int Rows>
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[Tile][Tile + detail::kPad];
  int c = blockIdx.x * Tile + threadIdx.x;
  for (int j = threadIdx.y; j < Tile; j += Rows) {
    int r = blockIdx.y * Tile + j;
    if (r < rows && c < cols) tile[j][threadIdx.x] = x[r * cols + c];
  }
  __syncthreads();
  int r = blockIdx.y * Tile + threadIdx.x;
  for (int j = threadIdx.y; j < Tile; j += Rows) {
    c = blockIdx.x * Tile + j;
    if (r < rows && c < cols) y[c * rows + r] = tile[threadIdx.x][j];
  }
})"),
                   2));
  std::vector<float> expected(x.size());
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kCols; ++c) expected[c * kRows + r] = x[r * kCols + c];
  EXPECT_EQ(lane.Floats("y"), expected);
}

TEST(HostKernels, TwoLaunchesShareATemp) {
  std::vector<float> x(300, 0.25f);
  TestLane lane;
  lane.Dim("n", 300).Floats("x", x).Output("y", Dtype::kFloat32, 1);
  MustRun(lane.Run(R"cu(/* warpsmith
launches:
  - {kernel: partial, grid: "ceil_div(n, 64)", block: "64", args: "x, sums, n"}
  - {kernel: "finish<float>", grid: "1", block: "1", args: "sums, y, ceil_div(n, 64)"}
temps:
  sums: {dtype: float32, shape: "ceil_div(n, 64)"}
*/
extern "C" __global__ void partial(const float* x, float* sums, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float sum = block_reduce_sum<64>(i < n ? x[i] : 0.0f);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
template <typename T> __global__ void finish(const T* sums, T* y, int count) {
  T sum = 0;
  for (int i = 0; i < count; ++i) sum += sums[i];
  *y = sum;
})cu"));
  EXPECT_FLOAT_EQ(lane.Floats("y")[0], 75.0f);
}

TEST(HostKernels, TheLastBlockFinishes) {
  std::vector<float> x(1024, 1.0f);
  TestLane lane(2);
  lane.Dim("n", 1024).Floats("x", x).Output("y", Dtype::kFloat32, 1);
  MustRun(lane.Run(R"(/* warpsmith
launches:
  - {kernel: total, grid: "8", block: "128", args: "x, partial, count, y"}
temps:
  partial: {dtype: float32, shape: "8"}
  count: {dtype: int32, shape: "1"}
zero: [count]
*/
__global__ void total(const float* x, volatile float* partial, unsigned* count, float* y) {
  __shared__ bool last;
  const float sum = block_reduce_sum(x[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < 8; ++i) all += partial[i];
    *y = all;
  }
})",
                   4));
  EXPECT_FLOAT_EQ(lane.Floats("y")[0], 1024.0f);
}

TEST(HostKernels, CooperativeGroupsTilesReduce) {
  const auto x = Draws(128, 9);
  TestLane lane;
  lane.Floats("x", x).Output("y", Dtype::kFloat32, 8);
  MustRun(lane.Run(Candidate("tiles", "1", "128", "x, y", R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void tiles(const float* x, float* y) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  const float sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<float>{});
  float shuffled = x[block.thread_rank()];
  for (int o = tile.size() / 2; o > 0; o /= 2) shuffled += tile.shfl_down(shuffled, o);
  block.sync();
  if (tile.thread_rank() == 0) y[tile.meta_group_rank()] = (sum + shuffled) / 2;
})")));
  for (int t = 0; t < 8; ++t)
    EXPECT_NEAR(lane.Floats("y")[t],
                std::accumulate(x.begin() + 16 * t, x.begin() + 16 * (t + 1), 0.0f), 1e-4f);
}

TEST(HostKernels, MixedTypesMathAndConstants) {
  TestLane lane;
  lane.Output("y", Dtype::kFloat64, 12);
  MustRun(lane.Run(Candidate("probe", "1", "1", "y", R"(
#include <cmath>
#include <limits>
__constant__ float table[3] = {1.5f, 2.5f, 3.5f};
__device__ int counter = 7;
struct Pair { float a, b; __device__ Pair(float x, float y) : a(x), b(y) {} };
__device__ __forceinline__ float3 operator*(float3 v, float s) {
  return make_float3(v.x * s, v.y * s, v.z * s);
}
__global__ void probe(double* y) {
  y[0] = max(1, 2.5f) + min(3u, 2);
  y[1] = exp(1.0f) == expf(1.0f);
  y[2] = std::numeric_limits<float>::max() == FLT_MAX && std::isinf(INFINITY);
  static_assert(std::is_same_v<decltype(INT64_MAX), int64_t> && std::is_signed_v<short>);
  std::array<float, 2> two{1.0f, FLT_EPSILON};
  std::swap(two[0], two[1]);
  y[2] *= std::move(two)[1] == 1;
  y[3] = std::max(3, 4) + pow(2.0f, 3) + abs(-2.5f) + abs(-3);
  y[4] = M_PI;
  y[5] = table[2] + counter;
  y[6] = __int_as_float(__float_as_int(1.25f)) + __float2int_rn(2.5f) + __popc(0xff);
  y[6] += __clz(1) + __ffs(8);
  const float4 v = make_float4(1, 2, 3, 4);
  y[7] = v.x + v.y * v.z + v.w;
  y[8] = (make_float3(1, 2, 3) * 2).z + Pair(1, 2).b;
  y[9] = INT_MAX + static_cast<double>(sizeof(int64_t)) + static_cast<double>(uint32_t(5));
  y[10] = erff(0.5f) + tanhf(0.5f) + log1pf(1.0f) + rsqrtf(4.0f);
  y[11] = __float2int_rn(1e20f);
})")));
  const auto y = lane.Get<double>("y");
  EXPECT_EQ(y[0], 4.5);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 1);
  EXPECT_EQ(y[3], 17.5);
  EXPECT_EQ(y[4], M_PI);
  EXPECT_EQ(y[5], 10.5);
  EXPECT_EQ(y[6], 1.25 + 2 + 8 + 31 + 4);
  EXPECT_EQ(y[7], 11);
  EXPECT_EQ(y[8], 8);
  EXPECT_EQ(y[9], 2147483647.0 + 13);
  EXPECT_NEAR(y[10], std::erf(0.5) + std::tanh(0.5) + std::log1p(1.0) + 0.5, 1e-6);
  EXPECT_EQ(y[11], 2147483647.0);
}

TEST(HostKernels, ScalarsArriveInTheParametersTypes) {
  TestLane lane;
  lane.Dim("n", 5).Scalar("f", Dtype::kFloat32, 0.1).Output("y", Dtype::kFloat64, 5);
  MustRun(lane.Run(Candidate("scalars", "1", "1", "y, n, n, n * 3, f, f, 1", R"(
__global__ void scalars(double* y, short a, unsigned long long b, long c, float d, const double e,
                        bool g) {
  y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e + g;
})")));
  const auto y = lane.Get<double>("y");
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 5);
  EXPECT_EQ(y[2], 15);
  EXPECT_EQ(y[3], 0.1f);
  EXPECT_NEAR(y[4], 1.1, 1e-7);
}

TEST(HostKernels, NothingIsLaunchedForZeroRows) {
  TestLane lane;
  lane.Dim("rows", 0).Dim("cols", 7).Floats("x", {}).Output("y", Dtype::kFloat32, 0);
  MustRun(lane.Run(Candidate("copy", "rows", "32", "x, y, cols", R"(
__global__ void copy(const float* x, float* y, int cols) { y[0] = x[0]; })")));
  EXPECT_TRUE(lane.Floats("y").empty());
}

TEST(HostKernels, DeviceGlobalsLastFromRunToRunOfOneModule) {
  TestLane lane;
  lane.Output("y", Dtype::kInt32, 1);
  MustRun(lane.Run(Candidate("count", "1", "1", "y", R"(
__device__ int runs;
__global__ void count(int* y) { *y = ++runs; })"),
                   3));
  EXPECT_EQ(lane.Get<int32_t>("y")[0], 3);
}

TEST(HostKernels, PrintsAreKeptAndCutAtTheCap) {
  TestLane lane;
  lane.Output("y", Dtype::kInt32, 1);
  MustRun(lane.Run(Candidate("talk", "100", "100", "y", R"(
__global__ void talk(int* y) {
  printf("block %d thread %d says %f\n", blockIdx.x, threadIdx.x, 0.5f);
  *y = 1;
})")));
  EXPECT_NE(lane.printed().find("block 0 thread 3 says 0.5"), std::string::npos);
  EXPECT_NE(lane.printed().find("[output cut at 65536 bytes]"), std::string::npos);
  EXPECT_LT(lane.printed().size(), 66000u);
}

}  // namespace
}  // namespace warpsmith
