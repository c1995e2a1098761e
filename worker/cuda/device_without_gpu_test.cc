// What of the CUDA device can be shown on a machine without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>

#include "worker/cuda/cuda_oracle_device.h"
#include "worker/cuda/cuda_runner_device.h"
#include "worker/cuda/device_facts.h"
#include "worker/cuda/nvrtc.h"
#include "worker/cuda/outcomes.h"
#include "worker/cuda/output_capture.h"
#include "worker/cuda/torch_cuda.h"

namespace warpsmith {

extern const char kTimingKernels[];
extern const char kOracleKernels[];
extern const char kRunnerKernels[];
extern const char kPhilox[];
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
                                          {{"common/base/philox.h", kPhilox},
                                           {"worker/device/content_value.h", kContentValue},
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

TEST(OutputCapture, AFloodIsCutAtTheCapAndTheProcessKeepsItsOutput) {
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

}  // namespace
}  // namespace warpsmith
