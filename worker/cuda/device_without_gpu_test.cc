// What of the CUDA device can be shown on a machine without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "common/base/random.h"
#include "worker/cuda/cuda_oracle_device.h"
#include "worker/cuda/cuda_runner_device.h"
#include "worker/cuda/device_facts.h"
#include "worker/cuda/nvrtc.h"
#include "worker/cuda/outcomes.h"
#include "worker/cuda/output_capture.h"
#include "worker/cuda/torch_cuda.h"
#include "worker/device/content_value.h"

namespace warpsmith {

extern const char kTimingKernels[];
extern const char kOracleKernels[];
extern const char kRunnerKernels[];
extern const char kContentValue[];
extern const char kCompareValue[];

namespace {

using testing::HasSubstr;

TEST(CudaDevices, WithoutADriverTheListIsEmptyAndSaysWhy) {
  const CudaDevices found = ListCudaDevices();
  if (!found.devices.empty()) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_THAT(found.why_none, HasSubstr("driver"));
  const auto oracle = CudaOracleDevice::Create(0);
  ASSERT_FALSE(oracle.has_value());
  EXPECT_EQ(oracle.error().code, ErrorCode::kMissing);
  const auto runner = CudaRunnerDevice::Create(0);
  ASSERT_FALSE(runner.has_value());
  EXPECT_EQ(runner.error().code, ErrorCode::kMissing);
}

TEST(TorchCuda, AProcessWithoutLibtorchIsToldWhatToSet) {
  const Status loaded = LoadTorchCuda();
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kMissing);
  EXPECT_THAT(loaded.error().message, HasSubstr("WARPSMITH_TORCH_LIB"));
}

TEST(OwnKernels, CompileForEveryArchitectureThatNvrtcKnows) {
  const auto nvrtc = LoadNvrtc();
  ASSERT_TRUE(nvrtc.has_value()) << nvrtc.error().message;
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    for (const char* text : {kTimingKernels, kRunnerKernels}) {
      const auto cubin = CompileOwnKernels(architecture, "own.cu", text);
      EXPECT_TRUE(cubin.has_value()) << cubin.error().message;
    }
    const auto oracle = CompileOwnKernels(architecture, "oracle.cu", kOracleKernels,
                                          {{"worker/device/content_value.h", kContentValue},
                                           {"worker/device/compare_value.h", kCompareValue}});
    EXPECT_TRUE(oracle.has_value()) << oracle.error().message;
  }
}

TEST(OwnKernels, AnUnknownArchitectureIsSaidToBeMissing) {
  const auto cubin = CompileOwnKernels("sm_21", "own.cu", kRunnerKernels);
  ASSERT_FALSE(cubin.has_value());
  EXPECT_EQ(cubin.error().code, ErrorCode::kMissing);
  EXPECT_THAT(cubin.error().message, HasSubstr("sm_21"));
}

TEST(OutcomeOf, FaultsOfDeviceCodeAreTheCandidates) {
  for (const CudaMoment moment : {CudaMoment::kLaunch, CudaMoment::kRun}) {
    EXPECT_TRUE(std::holds_alternative<DeviceFault>(
        OutcomeOf({CUDA_ERROR_ILLEGAL_ADDRESS, "running"}, moment)));
    EXPECT_TRUE(std::holds_alternative<DeviceFault>(
        OutcomeOf({CUDA_ERROR_MISALIGNED_ADDRESS, "running"}, moment)));
  }
}

TEST(OutcomeOf, ARefusedLaunchIsALaunchErrorAndASickDeviceIsNobodysFault) {
  EXPECT_TRUE(std::holds_alternative<LaunchError>(
      OutcomeOf({CUDA_ERROR_INVALID_VALUE, "launching"}, CudaMoment::kLaunch)));
  const Outcome sick = OutcomeOf({CUDA_ERROR_ECC_UNCORRECTABLE, "running"}, CudaMoment::kRun);
  ASSERT_TRUE(IsInfrastructure(sick));
  EXPECT_EQ(std::get<Infrastructure>(sick).kind, InfrastructureKind::kDeviceSick);
}

TEST(OutcomeOf, MemoryIsOursForBuffersAndTheCandidatesForTheRest) {
  EXPECT_TRUE(
      IsInfrastructure(OutcomeOf({CUDA_ERROR_OUT_OF_MEMORY, "mapping"}, CudaMoment::kMemory)));
  EXPECT_TRUE(std::holds_alternative<ResourceError>(
      OutcomeOf({CUDA_ERROR_OUT_OF_MEMORY, "loading"}, CudaMoment::kLoad)));
}

TEST(OutputCapture, AFloodIsCutAtTheCapAndTheProcessKeepsItsOutput) {  // E5
  std::string text;
  {
    OutputCapture capture;
    for (int i = 0; i < 10'000; ++i) std::printf("verdict: correct, speedup 9.99, line %d\n", i);
    text = capture.Finish();
  }
  EXPECT_LE(text.size(), OutputCapture::kCapBytes + 100);
  EXPECT_THAT(text, HasSubstr("line 0\n"));
  EXPECT_THAT(text, HasSubstr("output cut"));
  OutputCapture again;
  std::printf("hello");
  EXPECT_EQ(again.Finish(), "hello");
}

TEST(PoisonWord, IsNotANumberInEveryFloatingTypeAndDiffersByPattern) {
  std::set<uint32_t> words;
  for (uint32_t pattern = 0; pattern < 900; ++pattern) {
    const uint32_t word = PoisonWord(pattern);
    words.insert(word);
    for (const uint32_t half : {word >> 16, word & 0xFFFF}) {
      EXPECT_EQ(half & 0x7F80, 0x7F80u);  // bfloat16's exponent
      EXPECT_NE(half & 0x007F, 0u);
      EXPECT_EQ(half & 0x7C00, 0x7C00u);  // float16's exponent
      EXPECT_NE(half & 0x03FF, 0u);
    }
    float as_float;
    std::memcpy(&as_float, &word, sizeof(as_float));
    EXPECT_TRUE(std::isnan(as_float));
    const uint64_t twice = uint64_t{word} << 32 | word;
    double as_double;
    std::memcpy(&as_double, &twice, sizeof(as_double));
    EXPECT_TRUE(std::isnan(as_double));
  }
  EXPECT_EQ(words.size(), 900u);
}

TEST(ContentValue, DrawsTheBitsOfTheCommonPhilox) {
  ContentNumbers numbers{.seed = 0x1234567890ABCDEF, .case_number = 3, .tensor_number = 7};
  for (const uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    const auto words =
        Philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 7, 3},
                   {0x90ABCDEF, 0x12345678});
    const ContentWords drawn = DrawContent(numbers, index);
    EXPECT_EQ(drawn.word0, words[0]);
    EXPECT_EQ(drawn.word1, words[1]);
  }
}

TEST(ContentValue, EachKindStaysInItsRange) {
  ContentNumbers n{
      .seed = 9, .last_dim = 5, .bound = 11, .scale = 2, .low = -2, .high = 3, .value = 0.25};
  double sum = 0, squares = 0;
  int ones = 0, hot = 0, highest = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto draw = [&](InitKind kind) {
      n.kind = static_cast<int>(kind);
      return ContentValue(n, static_cast<uint64_t>(i));
    };
    const double normal = draw(InitKind::kNormal);
    sum += normal;
    squares += normal * normal;
    EXPECT_GE(draw(InitKind::kUniform), -2);
    EXPECT_LT(draw(InitKind::kUniform), 3);
    const double whole = draw(InitKind::kInteger);
    EXPECT_EQ(whole, std::floor(whole));
    EXPECT_GE(whole, -2);
    EXPECT_LE(whole, 3);
    highest += whole == 3;
    EXPECT_GE(draw(InitKind::kIndex), 0);
    EXPECT_LT(draw(InitKind::kIndex), 11);
    ones += draw(InitKind::kMask) == 1;
    hot += draw(InitKind::kOneHot) == 1;
    EXPECT_EQ(draw(InitKind::kConstant), 0.25);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.06);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 2, 0.06);
  EXPECT_NEAR(ones / double{kDraws}, 0.25, 0.02);
  EXPECT_NEAR(highest / double{kDraws}, 1 / 6.0, 0.02) << "both ends are drawn";
  EXPECT_EQ(hot, kDraws / 5);  // exactly one in each row of five
}

}  // namespace
}  // namespace warpsmith
