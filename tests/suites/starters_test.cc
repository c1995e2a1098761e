#include <gtest/gtest.h>

#include <filesystem>

#include "common/runtime/install.h"
#include "common/suite/resolve.h"
#include "common/suite/suite_file.h"
#include "worker/cuda/nvrtc_compiler.h"

namespace warpsmith {
namespace {

// As an H200 has it.
DeviceFacts Gpu() {
  DeviceFacts device;
  device.kind = DeviceKind::kCuda;
  device.architecture = "sm_90a";
  device.sm_count = 132;
  device.max_shared_bytes = 232448;
  return device;
}

TEST(Starters, CompileForAGpuAndResolveForEveryCase) {
  if (!std::filesystem::exists(CudaRoot() / "include" / "cuda_bf16.h"))
    GTEST_SKIP() << "no CUDA headers in " << CudaRoot();
  NvrtcCompiler compiler;
  size_t suites = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WARPSMITH_SUITES)) {
    if (entry.path().extension() != ".yaml") continue;
    const auto suite = LoadSuite(entry.path());
    ASSERT_TRUE(suite) << suite.error().message;
    ++suites;
    for (const auto& task : suite->tasks) {
      SCOPED_TRACE(task.id.value());
      if (task.starter.empty()) continue;
      const auto reply = compiler.Compile(
          {.text = task.starter, .device_kind = DeviceKind::kCuda, .architecture = "sm_90a"});
      const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
      ASSERT_TRUE(compiled) << Describe(std::get<Outcome>(reply.result));
      EXPECT_EQ(compiled->log, "");
      for (const auto& c : task.cuda_cases) {
        const auto resolved = ResolvePlan(compiled->plan, compiled->kernels, task, c.dims, Gpu());
        const auto* problem = std::get_if<Outcome>(&resolved);
        EXPECT_FALSE(problem) << (problem ? Describe(*problem) : "");
      }
    }
  }
  EXPECT_GE(suites, 1u);
}

}  // namespace
}  // namespace warpsmith
