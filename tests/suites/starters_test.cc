#include <gtest/gtest.h>

#include <filesystem>

#include "common/runtime/install.h"
#include "common/suite/resolve.h"
#include "common/suite/suite_file.h"
#include "worker/cuda/nvrtc_compiler.h"
#include "worker/host/cpu_facts.h"
#include "worker/host/host_compiler.h"

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

// Every task of every suite that ships, but those without a starter.
std::vector<Task> TasksWithStarters() {
  std::vector<Task> tasks;
  for (const auto& entry : std::filesystem::directory_iterator(WARPSMITH_SUITES)) {
    if (entry.path().extension() != ".yaml") continue;
    auto suite = LoadSuite(entry.path());
    EXPECT_TRUE(suite) << suite.error().message;
    if (!suite) continue;
    for (auto& task : suite->tasks)
      if (!task.starter.empty()) tasks.push_back(std::move(task));
  }
  EXPECT_GE(tasks.size(), 8u);
  return tasks;
}

void CompileAndResolve(KernelCompiler& compiler, const DeviceFacts& device) {
  for (const auto& task : TasksWithStarters()) {
    SCOPED_TRACE(task.id.value());
    const auto reply = compiler.Compile(
        {.text = task.starter, .device_kind = device.kind, .architecture = device.architecture});
    const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
    ASSERT_TRUE(compiled) << Describe(std::get<Outcome>(reply.result));
    EXPECT_EQ(compiled->log, "");
    for (const auto& c : CasesOf(task, device.kind)) {
      const auto resolved = ResolvePlan(compiled->plan, compiled->kernels, task, c.dims, device);
      const auto* problem = std::get_if<Outcome>(&resolved);
      EXPECT_FALSE(problem) << (problem ? Describe(*problem) : "");
    }
  }
}

TEST(Starters, CompileAndResolveForAGpu) {
  ASSERT_TRUE(std::filesystem::exists(CudaRoot() / "include" / "cuda_bf16.h"))
      << "no CUDA headers in " << CudaRoot() << ": run tools/setup";
  NvrtcCompiler compiler;
  CompileAndResolve(compiler, Gpu());
}

TEST(Starters, CompileAndResolveForTheHostDevice) {
  HostCompiler compiler;
  CompileAndResolve(compiler, HostFacts());
}

}  // namespace
}  // namespace warpsmith
