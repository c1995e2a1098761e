// The CUDA device on a GPU: what the oracle lends, how a runner's faults end, how both time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "common/base/parse.h"
#include "common/suite/scalar_bits.h"
#include "worker/cuda/cuda_runner_device.h"
#include "worker/cuda/gpu_rig.h"
#include "worker/cuda/nvrtc.h"
#include "worker/cuda/nvrtc_compiler.h"
#include "worker/device/content_value.h"
#include "worker/runner/serve.h"

namespace warpsmith {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (rig.ready()) return;
    // Only a machine that has no GPU goes without: one whose GPU does not work fails.
    ASSERT_EQ(rig.why_not().code, ErrorCode::kMissing) << rig.why_not().message;
    GTEST_SKIP() << rig.why_not().message;
  }

  // "device_fault(...)" of a failed answer, "done" of a good one.
  static std::string Ending(const FromRunner& answer) {
    const auto* failed = std::get_if<Failed>(&answer);
    return failed == nullptr ? "done" : OutcomeLabel(failed->outcome);
  }
  static Done DoneOf(const FromRunner& answer) {
    const auto* done = std::get_if<Done>(&answer);
    EXPECT_NE(done, nullptr) << Ending(answer);
    return done == nullptr ? Done{} : *done;
  }
  static double Median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  GpuRig rig;
};

// ---- faults, and what survives them

TEST_F(CudaDevice, AWriteToAnInputFaultsInTheRunnerAndTheOraclesBytesStay) {
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, 1000);
  rig.Launch("k", {1, 1, 1}, {32, 1, 1}, {BufferArgument(x)});
  ASSERT_TRUE(rig.oracle().Fill(rig.lent(x), {.elements = 1000, .seed = 5}).has_value());
  const auto before = rig.oracle().Digest(rig.lent(x));
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* x) { x[threadIdx.x] = 0; }")), "done");
  EXPECT_THAT(Ending(rig.Run()), HasSubstr("device_fault"));
  const auto after = rig.oracle().Digest(rig.lent(x));
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ(*before, *after);
}

TEST_F(CudaDevice, AWritePastTheEndFaultsAtAGuardFourBytesOrEightGibibytesAway) {
  for (const char* index : {"1024", "1024 + (1 << 19)", "1024 + (1u << 31)"}) {
    GpuRig fresh;
    const int y = fresh.Buffer(BufferRole::kOutput, Dtype::kFloat32, 1024, Placement::kEndsAtGuard);
    fresh.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(y)});
    ASSERT_EQ(
        Ending(fresh.Start(fmt::format("__global__ void k(float* y) {{ y[{}] = 1; }}", index))),
        "done");
    EXPECT_THAT(Ending(fresh.Run()), HasSubstr("device_fault")) << index;
  }
}

TEST_F(CudaDevice, AWriteBeforeTheStartFaultsAtTheOtherPlacement) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 1024, Placement::kStartsAtGuard);
  rig.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(y)});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* y) { y[-1] = 1; }")), "done");
  EXPECT_THAT(Ending(rig.Run()), HasSubstr("device_fault"));
}

TEST_F(CudaDevice, AWriteBetweenBufferAndGuardIsFoundInThePoison) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 1021, Placement::kEndsAtGuard);
  const int z = rig.Buffer(BufferRole::kOutput, Dtype::kUint8, 777, Placement::kStartsAtGuard);
  rig.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(y), BufferArgument(z)});
  for (const int buffer : {y, z}) {
    ASSERT_TRUE(rig.oracle().Poison(rig.lent(buffer), 77).has_value());
    const auto damage = rig.oracle().FindDamage(rig.lent(buffer), 77);
    ASSERT_TRUE(damage.has_value());
    EXPECT_EQ(*damage, std::nullopt);
    const auto other = rig.oracle().FindDamage(rig.lent(buffer), 78);
    ASSERT_TRUE(other.has_value());
    EXPECT_NE(*other, std::nullopt);
  }
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* y, unsigned char* z) {\n"
                             "  for (int i = 0; i <= 1021; ++i) y[i] = 1;\n"
                             "  for (int i = 0; i < 777; ++i) z[i] = 1;\n"
                             "  z[100000] = 0;\n}")),
            "done");
  ASSERT_EQ(Ending(rig.Run()), "done");
  const auto past = rig.oracle().FindDamage(rig.lent(y), 77);
  ASSERT_TRUE(past.has_value());
  EXPECT_EQ(*past, std::optional<uint64_t>(rig.lent(y).handle.offset + 4 * 1021));
  const auto far = rig.oracle().FindDamage(rig.lent(z), 77);
  ASSERT_TRUE(far.has_value());
  EXPECT_EQ(*far, std::optional<uint64_t>(100000));
}

TEST_F(CudaDevice, EachWayToFaultEndsAsOneAndTheNextRunnerIsFine) {
  const std::pair<const char*, const char*> faults[] = {
      {"*(float*)nullptr = y[0];", "device_fault"},
      {"__trap();", "device_fault"},
      {"*(float*)((char*)y + 1) = 1;", "device_fault"},
      {"for (;;) { char* p = (char*)malloc(1 << 16); p[0] = 1; }", "device_fault"},
      {"assert(y[0] == 12345.0f && \"candidate says\");", "device_fault"}};
  for (const auto& [body, ending] : faults) {
    GpuRig fresh;
    const int y = fresh.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
    ASSERT_TRUE(fresh.oracle().Zero(fresh.lent(y)).has_value());
    fresh.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(y)});
    ASSERT_EQ(Ending(fresh.Start(fmt::format("__global__ void k(float* y) {{ {} }}", body))),
              "done");
    const FromRunner answer = fresh.Run();
    EXPECT_THAT(Ending(answer), HasSubstr(ending)) << body;
    if (std::string(body).starts_with("assert") && std::holds_alternative<Failed>(answer)) {
      EXPECT_THAT(std::get<Failed>(answer).output, HasSubstr("candidate says"));
    }
  }
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
  rig.Launch("k", {1, 1, 1}, {64, 1, 1}, {BufferArgument(y)});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* y) { y[threadIdx.x] = 3; }")), "done");
  EXPECT_EQ(Ending(rig.Run()), "done");
  EXPECT_EQ(rig.Read<float>(y)[63], 3);
}

TEST_F(CudaDevice, AnEndlessLoopEndsWithItsProcessAndTheNextRunnerRunsNormally) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
  rig.Launch("k", {1, 1, 1}, {64, 1, 1}, {BufferArgument(y)});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(volatile float* y) { while (y[0] != 12345) {} }")),
            "done");
  ASSERT_TRUE(rig.oracle().Zero(rig.lent(y)).has_value());
  ASSERT_TRUE(rig.oracle().Synchronize().has_value());
  EXPECT_THAT(Ending(rig.runner().Ask(RunPlan{.sets = {0}}, {}, std::chrono::milliseconds(400))),
              HasSubstr("no answer"));
  EXPECT_TRUE(rig.runner().Kill());

  GpuRig fresh;
  const int z = fresh.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
  fresh.Launch("k", {1, 1, 1}, {64, 1, 1}, {BufferArgument(z)});
  ASSERT_EQ(Ending(fresh.Start("__global__ void k(float* y) { y[threadIdx.x] = 4; }")), "done");
  EXPECT_EQ(Ending(fresh.Run(true)), "done");
  EXPECT_EQ(fresh.Read<float>(z)[0], 4);
}

// ---- launches

TEST_F(CudaDevice, ABlockOf2048ThreadsIsALaunchErrorAndTheRunnerGoesOn) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
  rig.Launch("k", {1, 1, 1}, {2048, 1, 1}, {BufferArgument(y)});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* y) { y[0] = 1; }")), "done");
  EXPECT_THAT(Ending(rig.Run()), HasSubstr("launch_error"));
  EXPECT_THAT(Ending(rig.Run(true)), HasSubstr("launch_error"));
  rig.module().plan.launches[0].block = {64, 1, 1};
  EXPECT_EQ(Ending(rig.runner().Ask(rig.module())), "done");
}

TEST_F(CudaDevice, SharedMemoryUpToTheOptInLimitRuns) {
  const auto limit = static_cast<uint32_t>(rig.oracle().facts().max_shared_bytes);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kInt32, 4);
  for (const uint32_t dynamic : {48u * 1024, limit - 16})
    rig.Launch(
        "k", {1, 1, 1}, {1, 1, 1},
        {BufferArgument(y), ScalarArgument(ParameterType::kInt32, static_cast<int>(dynamic))},
        dynamic);
  ASSERT_EQ(
      Ending(rig.Start("__global__ void k(int* y, int bytes) {\n"
                       "  __shared__ int fixed[4]; extern __shared__ char s[];\n"
                       "  fixed[0] = bytes; s[bytes - 1] = 1; y[0] = fixed[0] + s[bytes - 1]; }")),
      "done");
  EXPECT_EQ(Ending(rig.Run()), "done");
  EXPECT_EQ(rig.Read<int>(y)[0], static_cast<int>(limit) - 16 + 1);
}

TEST_F(CudaDevice, EveryScalarTypeArrivesAsItWasSent) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat64, 12);
  rig.Launch(
      "k<2>", {1, 1, 1}, {1, 1, 1},
      {BufferArgument(y), ScalarArgument(ParameterType::kInt8, int8_t{-3}),
       ScalarArgument(ParameterType::kUint8, uint8_t{200}),
       ScalarArgument(ParameterType::kInt16, int16_t{-300}),
       ScalarArgument(ParameterType::kUint16, uint16_t{60000}),
       ScalarArgument(ParameterType::kInt32, int32_t{-70000}),
       ScalarArgument(ParameterType::kUint32, uint32_t{4000000000}),
       ScalarArgument(ParameterType::kInt64, int64_t{-5000000000}),
       ScalarArgument(ParameterType::kFloat32, 1.5f), ScalarArgument(ParameterType::kFloat64, 2.25),
       ScalarArgument(ParameterType::kFloat16, uint16_t{0x3E00}),
       ScalarArgument(ParameterType::kBFloat16, uint16_t{0x3FC0}),
       ScalarArgument(ParameterType::kBool, uint8_t{1})});
  ASSERT_EQ(
      Ending(rig.Start(
          "template <int N> __global__ void k(double* y, char a, unsigned char b, short c,\n"
          "    unsigned short d, int e, unsigned f, long long g, float h, double i, __half j,\n"
          "    __nv_bfloat16 k, bool l) {\n"
          "  double all[12] = {(double)a, (double)b, (double)c, (double)d, (double)e, (double)f,\n"
          "    (double)g, h, i, (double)(float)j, (double)(float)k, (double)l};\n"
          "  for (int n = 0; n < 12; ++n) y[n] = all[n] * N;\n}")),
      "done");
  ASSERT_EQ(Ending(rig.Run()), "done");
  EXPECT_THAT(rig.Read<double>(y),
              testing::ElementsAre(-6, 400, -600, 120000, -140000, 8e9, -1e10, 3, 4.5, 3, 3, 2));
}

TEST_F(CudaDevice, ArgumentsThatDoNotFitTheBinaryAreRefused) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 4);
  rig.Launch("k", {1, 1, 1}, {1, 1, 1},
             {BufferArgument(y), ScalarArgument(ParameterType::kInt32, 1)});
  EXPECT_THAT(Ending(rig.Start("__global__ void k(float* y, double a) { y[0] = a; }")),
              HasSubstr("rejected"));
}

TEST_F(CudaDevice, TwoLaunchesWithATempAndAZeroedOutput) {
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kInt32, 5000);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kInt32, 1, Placement::kAligned256, true);
  const int t = rig.Buffer(BufferRole::kTemp, Dtype::kInt32, 5000, Placement::kEndsAtGuard);
  const ResolvedArgument n = ScalarArgument(ParameterType::kInt32, 5000);
  rig.Launch("twice", {20, 1, 1}, {256, 1, 1}, {BufferArgument(x), BufferArgument(t), n});
  rig.Launch("sum", {20, 1, 1}, {256, 1, 1}, {BufferArgument(t), BufferArgument(y), n});
  Content content{.dtype = Dtype::kInt32, .elements = 5000, .seed = 3};
  content.init.kind = InitKind::kInteger;
  content.init.low = -100;
  content.init.high = 100;
  ASSERT_TRUE(rig.oracle().Fill(rig.lent(x), content).has_value());
  ASSERT_EQ(
      Ending(rig.Start(
          "__global__ void twice(const int* x, int* t, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) t[i] = 2 * x[i]; }\n"
          "__global__ void sum(const int* t, int* y, int n) {\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(y, t[i]); }")),
      "done");
  int expected = 0;
  for (const int value : rig.Read<int>(x)) expected += 2 * value;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(rig.oracle().Poison(rig.lent(y), 1).has_value());
    ASSERT_EQ(Ending(rig.Run(round == 1)), "done");
    EXPECT_EQ(rig.Read<int>(y)[0], expected);
  }
}

TEST_F(CudaDevice, AClusterIsLaunchedAsOne) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kInt32, 8);
  rig.Launch("k", {8, 1, 1}, {1, 1, 1}, {BufferArgument(y)}, 0, {4, 1, 1});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(int* y) { unsigned r;\n"
                             "  asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(r));\n"
                             "  y[blockIdx.x] = r; }")),
            "done");
  ASSERT_EQ(Ending(rig.Run()), "done");
  EXPECT_THAT(rig.Read<int>(y), testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST_F(CudaDevice, AModuleLoadedAnewKnowsNothingOfBefore) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kInt32, 1);
  rig.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(y)});
  const std::string code = "__device__ int runs;\n__global__ void k(int* y) { y[0] = ++runs; }";
  ASSERT_EQ(Ending(rig.Start(code)), "done");
  ASSERT_EQ(Ending(rig.Run(false, false, 3)), "done");
  EXPECT_EQ(rig.Read<int>(y)[0], 3);
  ASSERT_EQ(Ending(rig.Start(code)), "done");
  ASSERT_EQ(Ending(rig.Run()), "done");
  EXPECT_EQ(rig.Read<int>(y)[0], 1);
}

TEST_F(CudaDevice, UnwrittenSharedMemoryIsRubbishNotZero) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 1024);
  rig.Launch("k", {1, 1, 1}, {1024, 1, 1}, {BufferArgument(y)}, 4096);
  ASSERT_EQ(Ending(rig.Start("__global__ void k(float* y) { extern __shared__ float s[];\n"
                             "  y[threadIdx.x] = ((volatile float*)s)[threadIdx.x]; }")),
            "done");
  ASSERT_EQ(Ending(rig.Run(false, true)), "done");
  for (const float value : rig.Read<float>(y)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(CudaDevice, AFloodOfPrintingIsCutAndDoesNotChangeTheOutcome) {
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 1);
  rig.Launch("k", {10, 1, 1}, {1000, 1, 1}, {BufferArgument(y)});
  ASSERT_EQ(
      Ending(rig.Start("__global__ void k(float* y) {\n"
                       "  printf(\"{\\\"outcome\\\": \\\"correct\\\"} %100d\\n\", threadIdx.x);\n"
                       "  y[0] = 1; }")),
      "done");
  const Done done = DoneOf(rig.Run());
  EXPECT_THAT(done.output, HasSubstr("outcome"));
  EXPECT_LE(done.output.size(), 70'000u);
}

// ---- content

TEST_F(CudaDevice, ContentIsTheHostsBitForBit) {
  const int64_t n = 10'007;
  const std::pair<InitKind, const char*> kinds[] = {
      {InitKind::kUniform, "uniform"}, {InitKind::kInteger, "integer"},
      {InitKind::kIndex, "index"},     {InitKind::kOneHot, "one_hot"},
      {InitKind::kMask, "mask"},       {InitKind::kConstant, "constant"}};
  for (const auto& [kind, name] : kinds) {
    Content content{.elements = n,
                    .last_dim = 7,
                    .bound = 1000,
                    .seed = 0xABCDEF0123456789,
                    .case_number = 2,
                    .tensor_number = 1};
    content.init = {.kind = kind, .low = -5, .high = 9, .value = 0.3};
    ContentNumbers numbers{.seed = content.seed,
                           .case_number = 2,
                           .tensor_number = 1,
                           .kind = static_cast<int>(kind),
                           .last_dim = 7,
                           .bound = 1000,
                           .low = -5,
                           .high = 9,
                           .value = 0.3};
    GpuRig fresh;
    const int f32 = fresh.Buffer(BufferRole::kInput, Dtype::kFloat32, n);
    const int f64 = fresh.Buffer(BufferRole::kInput, Dtype::kFloat64, n, Placement::kEndsAtGuard);
    const int i64 = fresh.Buffer(BufferRole::kInput, Dtype::kInt64, n);
    const int u8 = fresh.Buffer(BufferRole::kInput, Dtype::kUint8, n, Placement::kEndsAtGuard);
    const int bf16 = fresh.Buffer(BufferRole::kInput, Dtype::kBFloat16, n);
    for (const auto& [buffer, dtype] :
         {std::pair{f32, Dtype::kFloat32}, std::pair{f64, Dtype::kFloat64},
          std::pair{i64, Dtype::kInt64}, std::pair{u8, Dtype::kUint8},
          std::pair{bf16, Dtype::kBFloat16}}) {
      content.dtype = dtype;
      ASSERT_TRUE(fresh.oracle().Fill(fresh.lent(buffer), content).has_value());
    }
    const auto floats = fresh.Read<float>(f32);
    const auto doubles = fresh.Read<double>(f64);
    const auto wholes = fresh.Read<int64_t>(i64);
    const auto bytes = fresh.Read<uint8_t>(u8);
    const auto brains = fresh.Read<uint16_t>(bf16);
    size_t wrong = 0;
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const double value = ContentValue(numbers, i);
      const auto as_float = static_cast<float>(value);
      uint32_t bits;
      std::memcpy(&bits, &as_float, sizeof(bits));
      const auto rounded = static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
      wrong += floats[i] != as_float || doubles[i] != value ||
               wholes[i] != static_cast<int64_t>(value) ||
               bytes[i] != static_cast<uint8_t>(static_cast<int64_t>(value)) ||
               brains[i] != rounded;
    }
    EXPECT_EQ(wrong, 0u) << name;
  }
}

TEST_F(CudaDevice, ShortNormalsAreTheHostsButForARoundingHereAndThere) {
  const int64_t n = 1'000'000;
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat16, n);
  const int b = rig.Buffer(BufferRole::kInput, Dtype::kBFloat16, n);
  Content content{.dtype = Dtype::kFloat16, .elements = n, .seed = 42, .tensor_number = 3};
  content.init.scale = 2;
  ASSERT_TRUE(rig.oracle().Fill(rig.lent(x), content).has_value());
  content.dtype = Dtype::kBFloat16;
  ASSERT_TRUE(rig.oracle().Fill(rig.lent(b), content).has_value());
  const ContentNumbers numbers{.seed = 42, .tensor_number = 3, .scale = 2};
  const auto halves = rig.Read<uint16_t>(x), brains = rig.Read<uint16_t>(b);
  size_t unequal = 0;
  for (size_t i = 0; i < halves.size(); ++i) {
    const auto expected = static_cast<double>(static_cast<float>(ContentValue(numbers, i)));
    // One unit in the last place at most, but where the value itself is nearly nothing.
    const int half_off = std::abs(halves[i] - ToHalfBits(expected));
    const int brain_off = std::abs(brains[i] - ToBFloat16Bits(expected));
    ASSERT_TRUE(half_off <= 1 || std::abs(expected) < 1e-3) << expected << " at " << i;
    ASSERT_TRUE(brain_off <= 1 || std::abs(expected) < 1e-3) << expected << " at " << i;
    unequal += static_cast<size_t>((half_off != 0) + (brain_off != 0));
  }
  EXPECT_LT(unequal, halves.size() / 100);
}

TEST_F(CudaDevice, NormalsAreTheHostsToTheLastBits) {
  const int64_t n = 100'000;
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, n);
  Content content{.elements = n, .seed = 42, .tensor_number = 3};
  content.init.scale = 2;
  ASSERT_TRUE(rig.oracle().Fill(rig.lent(x), content).has_value());
  const ContentNumbers numbers{.seed = 42, .tensor_number = 3, .scale = 2};
  const auto drawn = rig.Read<float>(x);
  size_t unequal = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const auto expected = static_cast<float>(ContentValue(numbers, i));
    EXPECT_NEAR(drawn[i], expected, 1e-6 * (1 + std::abs(expected)));
    unequal += drawn[i] != expected;
  }
  EXPECT_LT(unequal, drawn.size() / 1000);
}

// ---- comparison

// Eighths, which every floating dtype holds, then one value of any kind.
std::vector<char> EighthsThen(double last, Dtype dtype, size_t n) {
  std::vector<char> bytes(n * SizeOf(dtype));
  for (size_t i = 0; i < n; ++i) {
    const double value = i + 1 == n ? last : static_cast<double>(i % 97) / 8 - 5;
    char* at = bytes.data() + i * SizeOf(dtype);
    const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    switch (dtype) {
      case Dtype::kFloat64: put(value); break;
      case Dtype::kFloat32: put(static_cast<float>(value)); break;
      case Dtype::kFloat16: put(ToHalfBits(value)); break;
      default: put(ToBFloat16Bits(value)); break;
    }
  }
  return bytes;
}

TEST_F(CudaDevice, AComparisonSaysWhatTheHostsDoes) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<double, double> lasts[] = {{1, 1},    {1.0625, 1},  {kNan, kNan},
                                             {kNan, 1}, {kInf, kInf}, {-kInf, kInf},
                                             {1, kInf}, {1e-7, 0},    {-0.0, 0}};
  const Dtype dtypes[] = {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16};
  for (const Dtype mine : dtypes)
    for (const Dtype theirs : dtypes)
      for (const size_t n : {1, 7, 1000, 300'001}) {
        auto a =
            rig.oracle().Allocate(n * SizeOf(mine), Access::kReadWrite, Placement::kEndsAtGuard);
        auto b =
            rig.oracle().Allocate(n * SizeOf(theirs), Access::kReadWrite, Placement::kAligned256);
        ASSERT_TRUE(a && b);
        for (const auto& [got, expected] : lasts) {
          const auto got_bytes = EighthsThen(got, mine, n);
          const auto expected_bytes = EighthsThen(expected, theirs, n);
          rig.CopyIn(got_bytes.data(), *a, got_bytes.size());
          rig.CopyIn(expected_bytes.data(), *b, expected_bytes.size());
          // From the start, and from where no loads of 16 bytes are possible.
          for (const size_t skip : {0, 1}) {
            const auto view = [&](const void* data, Dtype dtype) {
              return FloatingView{static_cast<const char*>(data) + skip * SizeOf(dtype), dtype,
                                  static_cast<int64_t>(n - skip)};
            };
            const ValueRule rule{.rtol = 1e-2,
                                 .atol = 1e-3,
                                 .noticeable = 1e-4,
                                 .equal_nan = static_cast<int>(n % 2)};
            const auto sums =
                rig.oracle().CompareValues(view(a->data, mine), view(b->data, theirs), rule);
            ASSERT_TRUE(sums) << sums.error().message;
            const ValueSums host = CompareOnHost(view(got_bytes.data(), mine),
                                                 view(expected_bytes.data(), theirs), rule);
            const std::string what =
                fmt::format("{} {} against {} {}, {} elements from {}", got, ToString(mine),
                            expected, ToString(theirs), n, skip);
            EXPECT_EQ(sums->wrong, host.wrong) << what;
            EXPECT_EQ(sums->nonzero, host.nonzero) << what;
            EXPECT_EQ(sums->noticeable, host.noticeable) << what;
            EXPECT_NEAR(sums->error_squares, host.error_squares, 1e-9 * host.error_squares) << what;
            EXPECT_NEAR(sums->tolerance_squares, host.tolerance_squares,
                        1e-9 * host.tolerance_squares)
                << what;
          }
        }
        rig.oracle().Release(*a);
        rig.oracle().Release(*b);
      }
}

TEST_F(CudaDevice, ADigestTellsEveryChangedByte) {
  const int x = rig.Buffer(BufferRole::kOutput, Dtype::kUint8, 1003, Placement::kEndsAtGuard);
  ASSERT_TRUE(rig.oracle().Zero(rig.lent(x)).has_value());
  const auto before = rig.oracle().Digest(rig.lent(x));
  ASSERT_TRUE(before.has_value());
  const auto driver = LoadDriver();
  for (const size_t at : {size_t{0}, size_t{7}, size_t{500}, size_t{1000}, size_t{1002}}) {
    ASSERT_TRUE(rig.oracle().Zero(rig.lent(x)).has_value());
    const uint8_t one = 1;
    ASSERT_EQ(
        (*driver)->cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(rig.lent(x).data) + at, &one, 1),
        CUDA_SUCCESS);
    const auto after = rig.oracle().Digest(rig.lent(x));
    ASSERT_TRUE(after.has_value());
    EXPECT_NE(*before, *after) << at;
  }
}

TEST_F(CudaDevice, AnEmptyBufferIsLentWithoutADescriptor) {
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, 0);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kInt32, 1);
  EXPECT_EQ(rig.lent(x).fd, -1);
  rig.Launch("k", {1, 1, 1}, {1, 1, 1}, {BufferArgument(x), BufferArgument(y)});
  ASSERT_EQ(Ending(rig.Start("__global__ void k(const float* x, int* y) { y[0] = x == nullptr; }")),
            "done");
  ASSERT_EQ(Ending(rig.Run()), "done");
  EXPECT_EQ(rig.Read<int>(y)[0], 1);
}

// ---- timing

constexpr const char* kCopy =
    "__global__ void copy(const float4* x, float4* y, long long n) {\n"
    "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;\n"
    "       i += (long long)gridDim.x * blockDim.x) y[i] = x[i];\n}";

TEST_F(CudaDevice, ACopyTakesWhatTheMemoryAllowsAndNeverLess) {
  const double peak = rig.oracle().facts().peak_bandwidth_bytes_per_s;
  ASSERT_GT(peak, 0);
  const int64_t bytes = 256 << 20;
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, bytes / 4);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, bytes / 4);
  rig.Launch("copy", {static_cast<uint32_t>(rig.oracle().facts().sm_count) * 8, 1, 1}, {512, 1, 1},
             {BufferArgument(x), BufferArgument(y),
              ScalarArgument(ParameterType::kInt64, int64_t{bytes / 16})});
  ASSERT_EQ(Ending(rig.Start(kCopy)), "done");
  const Done done = DoneOf(rig.Run(true, false, 15));
  ASSERT_EQ(done.run_us.size(), 15u);
  const double rate = 2.0 * bytes / (Median(done.run_us) * 1e-6);
  fmt::print(
      "copy of 256 MiB: {:.1f} us, {:.2f} TB/s of {:.2f}; SM clock {:.0f} MHz; spread {:.2f} %\n",
      Median(done.run_us), rate / 1e12, peak / 1e12, done.sm_clock_mhz,
      100 * (*std::max_element(done.run_us.begin(), done.run_us.end()) /
                 *std::min_element(done.run_us.begin(), done.run_us.end()) -
             1));
  EXPECT_LT(rate, peak);
  EXPECT_GT(rate, 0.4 * peak);
  EXPECT_GT(done.sm_clock_mhz, 200);
}

TEST_F(CudaDevice, ASmallCopyIsTimedCold) {
  const double peak = rig.oracle().facts().peak_bandwidth_bytes_per_s;
  const int64_t bytes = 16 << 20;  // input and output fit the L2 of a large GPU
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, bytes / 4);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
  rig.Launch("read", {static_cast<uint32_t>(rig.oracle().facts().sm_count) * 4, 1, 1}, {512, 1, 1},
             {BufferArgument(x), BufferArgument(y),
              ScalarArgument(ParameterType::kInt64, int64_t{bytes / 16})});
  ASSERT_EQ(Ending(rig.Start(
                "__global__ void read(const float4* x, float4* y, long long n) { float s = 0;\n"
                "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;\n"
                "       i += (long long)gridDim.x * blockDim.x) { float4 v = x[i]; s += v.x + v.y "
                "+ v.z + v.w; }\n"
                "  if (s == 12345.678f) y[0].x = s;\n}")),
            "done");
  const Done done = DoneOf(rig.Run(true, false, 21));
  const double rate = bytes / (Median(done.run_us) * 1e-6);
  fmt::print("cold read of 16 MiB: {:.2f} us, {:.2f} TB/s\n", Median(done.run_us), rate / 1e12);
  EXPECT_LT(rate, peak);
}

TEST_F(CudaDevice, LinesKeptOnPurposeAreColdAllTheSame) {
  const int64_t bytes = 16 << 20;
  const std::string loop =
      "  float s = 0;\n"
      "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;\n"
      "       i += (long long)gridDim.x * blockDim.x) { float4 v; LOAD; s += v.x + v.y + v.z + "
      "v.w; }\n"
      "  if (s == 12345.678f) y[0] = s;\n}\n";
  const std::string plain =
      "#define LOAD asm volatile(\"ld.global.v4.f32 {%0,%1,%2,%3}, [%4];\" "
      ": \"=f\"(v.x), \"=f\"(v.y), \"=f\"(v.z), \"=f\"(v.w) : \"l\"(x + i))\n";
  const std::string kept =
      "#define LOAD asm volatile(\"ld.global.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %5;\" "
      ": \"=f\"(v.x), \"=f\"(v.y), \"=f\"(v.z), \"=f\"(v.w) : \"l\"(x + i), \"l\"(policy))\n";
  const std::string policy =
      "  unsigned long long policy;\n"
      "  asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(policy));\n";
  const std::string head = "__global__ void k(const float4* x, float* y, long long n) {\n";
  std::vector<double> medians;
  for (const std::string& code : {plain + head + loop, kept + head + policy + loop}) {
    GpuRig fresh;
    const int x = fresh.Buffer(BufferRole::kInput, Dtype::kFloat32, bytes / 4);
    const int y = fresh.Buffer(BufferRole::kOutput, Dtype::kFloat32, 64);
    fresh.Launch("k", {static_cast<uint32_t>(fresh.oracle().facts().sm_count) * 4, 1, 1},
                 {512, 1, 1},
                 {BufferArgument(x), BufferArgument(y),
                  ScalarArgument(ParameterType::kInt64, int64_t{bytes / 16})});
    ASSERT_EQ(Ending(fresh.Start(code)), "done");
    medians.push_back(Median(DoneOf(fresh.Run(true, false, 21)).run_us));
  }
  fmt::print("cold read of 16 MiB: {:.2f} us, of lines kept on purpose {:.2f} us\n", medians[0],
             medians[1]);
  EXPECT_GT(medians[1], 0.9 * medians[0]);
}

TEST_F(CudaDevice, OracleAndRunnerTimeTheSameWorkAlike) {
  const int64_t bytes = 64 << 20;
  const int x = rig.Buffer(BufferRole::kInput, Dtype::kFloat32, bytes / 4);
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, bytes / 4);
  const auto blocks = static_cast<uint32_t>(rig.oracle().facts().sm_count) * 8;
  rig.Launch("copy", {blocks, 1, 1}, {512, 1, 1},
             {BufferArgument(x), BufferArgument(y),
              ScalarArgument(ParameterType::kInt64, int64_t{bytes / 16})});
  ASSERT_EQ(Ending(rig.Start(kCopy)), "done");

  const auto driver = LoadDriver();
  CUmodule module = nullptr;
  CUfunction copy = nullptr;
  ASSERT_EQ((*driver)->cuModuleLoadData(&module, rig.module().binary.data()), CUDA_SUCCESS);
  ASSERT_EQ((*driver)->cuModuleGetFunction(&copy, module, rig.module().kernels[0].symbol.c_str()),
            CUDA_SUCCESS);
  void* from = rig.lent(x).data;
  void* to = rig.lent(y).data;
  long long count = bytes / 16;
  void* arguments[] = {&from, &to, &count};
  std::vector<double> ratios, theirs_all, ours_all;
  for (int block = 0; block < 10; ++block) {
    const double theirs = Median(DoneOf(rig.Run(true, false, 9)).run_us);
    const auto ours = rig.oracle().Time(9, [&](size_t) {
      (*driver)->cuLaunchKernel(copy, blocks, 1, 1, 512, 1, 1, 0, nullptr, arguments, nullptr);
    });
    ASSERT_TRUE(ours.has_value()) << ours.error().message;
    ratios.push_back(theirs / Median(*ours));
    theirs_all.push_back(theirs);
    ours_all.push_back(Median(*ours));
  }
  fmt::print(
      "copy of 64 MiB, 10 blocks: runner {:.2f} us, oracle {:.2f} us, ratio {:.4f} ({:.4f} to "
      "{:.4f})\n",
      Median(theirs_all), Median(ours_all), Median(ratios),
      *std::min_element(ratios.begin(), ratios.end()),
      *std::max_element(ratios.begin(), ratios.end()));
  EXPECT_NEAR(Median(ratios), 1, 0.05);
  (*driver)->cuModuleUnload(module);
}

TEST_F(CudaDevice, NothingTakesLessThanSomethingAndASlowHostIsNoticed) {
  const auto nothing = rig.oracle().Time(30, [](size_t) {});
  ASSERT_TRUE(nothing.has_value()) << nothing.error().message;
  fmt::print("an empty run: {:.2f} us, at most {:.2f}\n", Median(*nothing),
             *std::max_element(nothing->begin(), nothing->end()));
  const int y = rig.Buffer(BufferRole::kOutput, Dtype::kFloat32, 16 << 20);
  const auto zeroing = rig.oracle().Time(9, [&](size_t) { (void)rig.oracle().Zero(rig.lent(y)); });
  ASSERT_TRUE(zeroing.has_value());
  EXPECT_LT(Median(*nothing), Median(*zeroing));
  const auto slow = rig.oracle().Time(
      1, [](size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
  ASSERT_FALSE(slow.has_value());
  EXPECT_EQ(slow.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(rig.oracle().Time(3, [](size_t) {}).has_value());
}

TEST_F(CudaDevice, FactsAreThoseOfADataCentreOrDesktopGpu) {
  const DeviceFacts& facts = rig.oracle().facts();
  fmt::print(
      "{} {} {}: {} SMs, {} MiB L2, {:.2f} TB/s, {:.0f} TFLOP/s, shared {} + {}, {} GiB; {}; {}\n",
      facts.name, facts.uuid, facts.architecture, facts.sm_count, facts.l2_bytes >> 20,
      facts.peak_bandwidth_bytes_per_s / 1e12, facts.peak_flops_per_s / 1e12,
      facts.max_shared_bytes, facts.reserved_shared_bytes, facts.memory_bytes >> 30, facts.driver,
      facts.toolkit);
  EXPECT_EQ(facts.kind, DeviceKind::kCuda);
  EXPECT_THAT(facts.uuid, testing::StartsWith("GPU-"));
  EXPECT_THAT(facts.architecture, testing::StartsWith("sm_"));
  EXPECT_GT(facts.sm_count, 0);
  EXPECT_GT(facts.l2_bytes, 0);
  EXPECT_GE(facts.max_shared_bytes, 48 * 1024);
  EXPECT_EQ(facts.clock_mode, ClockMode::kObserved);
}

}  // namespace

// The child's side: a runner until the peer is gone or a fault ends it.
int ServeOn(int fd) {
  FrameSocket socket{UniqueFd(fd)};
  auto device = CudaRunnerDevice::Create(0);
  if (!device) {
    fmt::print(stderr, "{}\n", device.error().message);
    return 1;
  }
  return ServeRunner(socket, **device) ? 0 : 1;
}

}  // namespace warpsmith

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--serve-runner")
    return warpsmith::ServeOn(warpsmith::ParseWhole<int>(argv[2]).value_or(-1));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
