// How candidates die on the host device, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "worker/host/test_lane.h"

namespace warpsmith {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string FaultOf(const Outcome& outcome) {
  const auto* fault = std::get_if<DeviceFault>(&outcome);
  return fault == nullptr ? "no fault: " + Describe(outcome) : fault->code;
}

// x: 100 floats in, y: 100 floats out, n: 100.
TestLane Hundred(int workers = 1) {
  TestLane lane(workers);
  lane.Dim("n", 100).Floats("x", std::vector<float>(100, 1.0f)).Output("y", Dtype::kFloat32, 100);
  return lane;
}

Outcome RunBody(TestLane lane, const std::string& body, const std::string& block = "32") {
  return lane.Run(
      Candidate("k", "2", block, "x, y, n",
                "__global__ void k(const float* x, float* y, int n) {\n" + body + "\n}\n"));
}

TEST(HostFaults, AWriteToAnInputNamesArgumentBlockAndThread) {
  EXPECT_EQ(
      FaultOf(RunBody(Hundred(), "const_cast<float*>(x)[0] = 0;")),
      "write to a read-only buffer: argument 0 (x), byte offset 0, block (0,0,0) thread (0,0,0)");
}

TEST(HostFaults, NamesTheThreadAlsoInAPlainLoopAndInAFiber) {
  EXPECT_THAT(
      FaultOf(RunBody(Hundred(),
                      "if (blockIdx.x == 1 && threadIdx.x == 17) *const_cast<float*>(x) = 0;")),
      EndsWith("block (1,0,0) thread (17,0,0)"));
  EXPECT_THAT(FaultOf(RunBody(
                  Hundred(2),
                  "__syncthreads(); if (blockIdx.x == 1 && threadIdx.z == 3 && threadIdx.y == 1 && "
                  "threadIdx.x == 0) *const_cast<float*>(x) = 0; __syncthreads();",
                  "2, 2, 5")),
              EndsWith("block (1,0,0) thread (0,1,3)"));
}

TEST(HostFaults, AccessPastTheEndIsSeenWhenTheBufferEndsAtItsGuard) {
  EXPECT_EQ(FaultOf(RunBody(Hundred(), "y[100] = 0;")),
            "write past the end of a buffer: argument 1 (y), byte offset 400 of 400, block (0,0,0) "
            "thread (0,0,0)");
  EXPECT_THAT(
      FaultOf(RunBody(Hundred(), "y[0] = x[n + (64 << 20)];")),
      StartsWith("read past the end of a buffer: argument 0 (x), byte offset 268435856 of 400"));
  // int + unsigned is unsigned: the index lands 16 GiB away, in this buffer's own guard.
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "y[-200 + (int)threadIdx.x * 0 + threadIdx.x] = 0;")),
              StartsWith("write past the end of a buffer: argument 1 (y)"));
}

TEST(HostFaults, AccessBeforeTheStartIsSeenWhenTheBufferStartsAtItsGuard) {
  auto lane = Hundred();
  lane.Place(Placement::kStartsAtGuard);
  EXPECT_THAT(FaultOf(RunBody(lane, "y[-1] = 0;")),
              StartsWith("write before the start of a buffer: argument 1 (y), byte offset -4,"));
}

TEST(HostFaults, FourBytesTooManyWithoutAFaultAreFoundInThePoison) {
  TestLane lane;  // 99 floats: 396 bytes end 4 before their guard
  lane.Dim("n", 99).Floats("x", std::vector<float>(99, 1.0f)).Output("y", Dtype::kFloat32, 99);
  EXPECT_TRUE(IsCorrect(lane.Run(
      Candidate("k", "1", "1", "y, n", "__global__ void k(float* y, int n) { y[n] = 0; }"))));
  EXPECT_EQ(lane.Damage(), "y+396");
}

TEST(HostFaults, ACorrectNeighbourLeavesNoDamage) {
  auto lane = Hundred();
  for (const auto placement :
       {Placement::kEndsAtGuard, Placement::kStartsAtGuard, Placement::kAligned256}) {
    lane.Place(placement);
    EXPECT_TRUE(IsCorrect(lane.Run(
        Candidate("k", "1", "1", "y, n", "__global__ void k(float* y, int n) { y[n - 1] = 0; }"))));
    EXPECT_EQ(lane.Damage(), std::nullopt);
  }
}

TEST(HostFaults, NullPointersAndWildOnes) {
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "*reinterpret_cast<volatile float*>(n - 100) = 0;")),
              StartsWith("write through a null pointer: address 0x0"));
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "y[0] = *reinterpret_cast<float*>(0x123456789000 + n);")),
              StartsWith("read of unmapped memory: address 0x123456789064"));
}

TEST(HostFaults, AMisalignedVectorIsAFaultAsOnAGpu) {
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "store_vec(y + 1, load_vec<4>(x + 4));")),
              StartsWith("misaligned access"));
}

TEST(HostFaults, AnIndexPastASharedArray) {
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "__shared__ float s[32]; s[n] = x[0]; y[0] = s[n / 50];")),
              StartsWith("an array index is out of its bounds, block (0,0,0)"));
}

TEST(HostFaults, StackOverflowOfAThread) {
  const std::string deep =
      "__device__ __noinline__ int deep(volatile int* p, int d) {\n  volatile int a[64]; a[d % 64] "
      "= *p;\n"
      "  return deep(a, d + 1) + a[3];\n}\n";
  for (const char* barrier : {"", "__syncthreads();"}) {
    auto lane = Hundred();
    EXPECT_THAT(FaultOf(lane.Run(Candidate("k", "1", "32", "y, n",
                                           deep + "__global__ void k(float* y, int n) {" + barrier +
                                               " y[0] = deep(&n, 0); }"))),
                StartsWith("stack overflow"));
  }
}

TEST(HostFaults, TrapsAssertionsAndDivisionsByZero) {
  EXPECT_EQ(FaultOf(RunBody(Hundred(), "if (threadIdx.x == 3) __trap();")),
            "trap: __trap(), block (0,0,0) thread (3,0,0)");
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "\n\nassert(n < 100 && \"too many\");")),
              StartsWith("trap: candidate.cu:12: assertion failed: n < 100 && \"too many\""));
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "y[0] = 7 / (n - 100);")),
              StartsWith("division of a whole number by zero"));
}

TEST(HostFaults, ADivergentBarrierSaysWhoWaitsWhere) {
  EXPECT_EQ(
      FaultOf(RunBody(Hundred(), R"(
  if (threadIdx.x < 40)
    __syncthreads();
  else
    y[0] = __shfl_down_sync(0xffffffff, x[0], 1);
)",
                      "64")),
      "divergent barrier: 40 threads wait at __syncthreads(), first is (0,0,0); 24 threads wait at "
      "__shfl_down_sync(mask=0xffffffff), first is (40,0,0), block (0,0,0)");
}

TEST(HostFaults, AMaskThatDoesNotNameItsCaller) {
  EXPECT_THAT(FaultOf(RunBody(Hundred(), "y[0] = __shfl_sync(0x1, x[0], 0);")),
              StartsWith("divergent barrier: lane 1 calls __shfl_sync with mask=0x00000001"));
}

TEST(HostFaults, ThreadsThatReturnedCountAsArrived) {
  auto lane = Hundred();
  const Outcome outcome = lane.Run(Candidate("k", "1", "64", "x, y, n", R"(
__global__ void k(const float* x, float* y, int n) {
  if (threadIdx.x >= 50) return;
  __syncthreads();
  y[threadIdx.x] = x[threadIdx.x] + __syncthreads_count(1);
})"));
  EXPECT_TRUE(IsCorrect(outcome)) << Describe(outcome);
  EXPECT_EQ(lane.Floats("y")[0], 51.0f);
}

TEST(HostFaults, AnEndlessLoopIsKilledAtTheLimit) {
  auto lane = Hundred();
  lane.RunLimit(std::chrono::seconds(1));
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = RunBody(lane, "volatile int go = 1; while (go) {}");
  EXPECT_TRUE(std::holds_alternative<Timeout>(outcome)) << Describe(outcome);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(HostFaults, AMissingBarrierIsFoundByTheOtherOrderOfThreads) {
  // Right when thread 0 runs before the others, wrong in reverse.
  const std::string racy = Candidate("k", "1", "64", "x, y", R"(
__global__ void k(const float* x, float* y) {
  __shared__ float first;
  if (threadIdx.x == 0) first = x[0];
  y[threadIdx.x] = first;
})");
  auto lane = Hundred();
  ASSERT_TRUE(IsCorrect(lane.Run(racy, 1)));
  EXPECT_EQ(lane.Floats("y")[63], 1.0f);
  ASSERT_TRUE(IsCorrect(lane.Run(racy, 2)));
  EXPECT_NE(lane.Floats("y")[63], 1.0f);
}

TEST(HostFaults, SharedMemoryIsDirtyBeforeAKernelWritesIt) {
  auto lane = Hundred();
  ASSERT_TRUE(IsCorrect(lane.Run(Candidate("k", "1", "1", "y", R"(
__global__ void k(float* y) {
  __shared__ float fixed[8];
  extern __shared__ float dynamic[];
  if (y[1] == 3) fixed[1] = 1;  // never; else g++ would know that it is all zeros
  y[0] = fixed[threadIdx.x] == 0.0f;
  y[1] = dynamic[threadIdx.x] == 0.0f;
})",
                                           "64"))));
  EXPECT_EQ(lane.Floats("y")[0], 0.0f);
  EXPECT_EQ(lane.Floats("y")[1], 0.0f);
}

TEST(HostFaults, TheFaultOfASecondLaunchNamesIt) {
  TestLane lane = Hundred();
  EXPECT_THAT(FaultOf(lane.Run(R"(/* warpsmith
launches:
  - {kernel: good, grid: "1", block: "1", args: "y"}
  - {kernel: bad, grid: "1", block: "1", args: "y, x"}
*/
__global__ void good(float* y) { y[0] = 1; }
__global__ void bad(float* y, float* x) { x[1] = y[0]; })")),
              AllOf(HasSubstr("argument 1 (x), byte offset 4"), EndsWith("launch 2 (bad)")));
}

TEST(HostFaults, ADeadCandidateLeavesTheNextOneUnharmed) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(FaultOf(RunBody(Hundred(), "y[1 << 20] = 0;")), HasSubstr("past the end"));
    auto lane = Hundred();
    EXPECT_TRUE(IsCorrect(RunBody(lane, "y[threadIdx.x] = 1;")));
  }
}

}  // namespace
}  // namespace warpsmith
