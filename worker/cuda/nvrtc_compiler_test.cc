#include "worker/cuda/nvrtc_compiler.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/outcome.h"
#include "common/model/plan.h"
#include "worker/cuda/cubin.h"

namespace warpsmith {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using enum ParameterType;

CompileReply Compile(const std::string& text, const std::string& architecture = "sm_90a") {
  NvrtcCompiler compiler;
  return compiler.Compile(
      {.id = 7, .text = text, .device_kind = DeviceKind::kCuda, .architecture = architecture});
}

std::string Candidate(const std::string& code, const std::string& kernel = "k",
                      const std::string& args = "x, y") {
  return fmt::format(
      "/* warpsmith\nlaunches:\n  - kernel: {}\n    grid: 1\n    block: 32\n    args: {}\n*/\n{}\n",
      kernel, args, code);
}

// The outcome's one line; fails the test when it compiled.
std::string Failure(const CompileReply& reply) {
  const auto* outcome = std::get_if<Outcome>(&reply.result);
  if (outcome == nullptr) return "compiled";
  if (const auto* error = std::get_if<CompileError>(outcome)) return "compile_error: " + error->log;
  return std::string(OutcomeName(*outcome)) + ": " + Describe(*outcome);
}

CompiledCandidate Compiled(const CompileReply& reply) {
  const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
  EXPECT_NE(compiled, nullptr) << Failure(reply);
  return compiled == nullptr ? CompiledCandidate{} : *compiled;
}

TEST(NvrtcCompiler, ArchitecturesThatNvrtcLacksAreNobodysFault) {
  for (const char* architecture : {"sm_21", "sm_70", "native", "sm_999", "", "sm_90a -I/etc"})
    EXPECT_THAT(
        Failure(Compile(Candidate("__global__ void k(float* x, float* y) {}"), architecture)),
        AllOf(HasSubstr("infrastructure"), HasSubstr("unsupported_architecture"),
              HasSubstr("sm_90")))
        << architecture;
}

TEST(NvrtcCompiler, HostCodeIsRejectedWithItsLine) {
  for (const char* code : {"__global__ void k(float* x, float* y) {}\nint main() { return 0; }",
                           "__global__ void k(float* x, float* y) {}\nvoid helper() {}",
                           "__global__ void k(float* x, float* y) {}\nstruct S { ~S() {} }; S s;"})
    EXPECT_THAT(Failure(Compile(Candidate(code))), HasSubstr("rejected")) << code;
  EXPECT_THAT(Failure(Compile(
                  Candidate("__global__ void k(float* x, float* y) {}\nint main() { return 0; }"))),
              HasSubstr("candidate.cu(9)"));
}

TEST(NvrtcCompiler, DeviceSideLaunchesAreRejected) {
  EXPECT_THAT(
      Failure(Compile(Candidate("__global__ void c() {}\n"
                                "__global__ void k(float* x, float* y) { c<<<1, 1>>>(); }"))),
      HasSubstr("rejected"));
}

TEST(NvrtcCompiler, NoHostFileIsReadAndNoPathOfOursIsTold) {
  const std::string failure =
      Failure(Compile(Candidate("#include \"/etc/passwd\"\n__global__ void k() {}")));
  EXPECT_THAT(failure, AllOf(HasSubstr("rejected"), Not(HasSubstr("root:"))));
  const std::string inside =
      Failure(Compile(Candidate("#include <cuda_fp16.h>\n__global__ void k(float* x, float* y) { "
                                "__half h = __float2half(\"a\"); }")));
  EXPECT_THAT(inside, AllOf(HasSubstr("candidate.cu(9)"), Not(HasSubstr("site-packages")),
                            Not(HasSubstr("/include/"))));
}

TEST(NvrtcCompiler, ErrorsNameTheAuthorsLines) {
  EXPECT_THAT(Failure(Compile(Candidate(
                  "\n__global__ void k(float* x, float* y) {\n  y[0] = undeclared_name;\n}"))),
              AllOf(HasSubstr("compile_error"), HasSubstr("candidate.cu(10)"),
                    HasSubstr("undeclared_name")));
}

TEST(NvrtcCompiler, AKernelThatThePlanNamesButTheTextLacksIsNamed) {
  EXPECT_THAT(Failure(Compile(Candidate("__global__ void other(float* x, float* y) {}"))),
              AllOf(HasSubstr("compile_error"), HasSubstr("launch plan"), HasSubstr("k")));
}

TEST(NvrtcCompiler, WhatEveryAuthorExpectsIsThere) {
  const char* code = R"(#include <cfloat>
#include <cstdint>
#include <cmath>
#include <limits>
#include <type_traits>
#include <cassert>
#include <stdio.h>
#include <cuda_runtime.h>
__global__ void k(const float* x, float* y) {
  uint32_t a = 1; int64_t b = 2; uintptr_t p = (uintptr_t)x; uint c = 3; std::uint8_t d = 4;
  static_assert(std::is_same<decltype(std::exp(1.0f)), float>::value, "");
  static_assert(INT_MAX == std::numeric_limits<int>::max() && UINT32_MAX == 4294967295U, "");
  static_assert(INT64_MIN < 0 && std::is_same<decltype(INT64_MAX), int64_t>::value, "");
  std::array<float, 2> two{1.0f, FLT_EPSILON};
  std::swap(two[0], two[1]);
  const auto moved = std::move(two);
  float m = -INFINITY + moved[1];
  m = std::max(m, FLT_MAX) + (float)M_PI + std::numeric_limits<float>::infinity() + sqrtf(x[0]);
  m += std::sqrt(x[1]);
  assert(m > 0);
  if (isnan(m)) printf("%d\n", (int)(a + b + p + c + d));
  y[0] = std::min(m, warp_reduce_sum(m)) + ceil_div(7, 2) + block_reduce_max(x[2]);
})";
  EXPECT_EQ(Compiled(Compile(Candidate(code))).kernels.size(), 1u);
}

TEST(NvrtcCompiler, ToolkitHeadersCompile) {
  for (const char* header : {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "mma.h", "cuda_pipeline.h",
                             "cooperative_groups.h", "cub/block/block_reduce.cuh", "cuda/std/array",
                             "cuda/std/utility", "cuda/std/limits", "cuda/std/type_traits"})
    EXPECT_EQ(Compiled(Compile(Candidate(fmt::format(
                           "#include <{}>\n__global__ void k(float* x, float* y) {{}}", header))))
                  .kernels.size(),
              1u)
        << header;
}

TEST(NvrtcCompiler, CarriageReturnsAndAByteOrderMarkDoNoHarm) {
  std::string text =
      "\xEF\xBB\xBF" + Candidate(
                           "#define ADD(a, b) \\\n  (a + b)\n"
                           "__global__ void k(float* x, float* y) { y[0] = ADD(x[0], 1); }");
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(Compiled(Compile(windows)).kernels.size(), 1u);
}

TEST(NvrtcCompiler, TellsEachParametersType) {
  const auto compiled =
      Compiled(Compile(Candidate("struct Pair { int a, b; };\n"
                                 "__global__ void k(const float* __restrict__ x, const "
                                 "__nv_bfloat16* y, bool a, char b, unsigned char c, short d,\n"
                                 "  unsigned short e, const int f, unsigned g, int64_t h, size_t "
                                 "i, float j, double k1, __half l,\n"
                                 "  __nv_bfloat16 m, Pair n, void** o) {}")));
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_THAT(compiled.kernels[0].parameters,
              ElementsAre(kPointer, kPointer, kBool, kInt8, kUint8, kInt16, kUint16, kInt32,
                          kUint32, kInt64, kUint64, kFloat32, kFloat64, kFloat16, kBFloat16,
                          kUnsupported, kPointer));
  EXPECT_EQ(compiled.architecture, "sm_90a");
}

TEST(NvrtcCompiler, TemplatesAndKernelsWithoutParametersAreNamedByExpression) {
  const std::string text =
      "/* warpsmith\nlaunches:\n"
      "  - {kernel: \"scale<8, float>\", grid: 1, block: 32, args: \"x, y\"}\n"
      "  - {kernel: tools::reset, grid: 1, block: 32, args: x}\n"
      "  - {kernel: \"scale<8, float>\", grid: 2, block: 32, args: \"x, y\"}\n*/\n"
      "template <int N, class T> __global__ void scale(const T* x, T* y) { y[threadIdx.x] = "
      "x[threadIdx.x] * N; }\n"
      "namespace tools { __global__ void reset() {} }\n";
  const auto compiled = Compiled(Compile(text));
  ASSERT_EQ(compiled.kernels.size(), 2u);
  EXPECT_EQ(compiled.kernels[0].name, "scale<8, float>");
  EXPECT_THAT(compiled.kernels[0].symbol, HasSubstr("scale"));
  EXPECT_THAT(compiled.kernels[0].parameters, ElementsAre(kPointer, kPointer));
  EXPECT_THAT(compiled.kernels[1].parameters, ElementsAre());
  EXPECT_EQ(compiled.plan.launches.size(), 3u);
}

TEST(NvrtcCompiler, MacrosOfTheAuthorsDoNotReachTheParameterTable) {
  const auto compiled = Compiled(Compile(
      Candidate("#define value 9\n#define Code Other\n#define Table Chair\n#define Parameters P\n"
                "__global__ void k(float* x, int y) {}")));
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_THAT(compiled.kernels[0].parameters, ElementsAre(kPointer, kInt32));
}

TEST(NvrtcCompiler, ReportsWhatAKernelTakes) {
  const auto compiled = Compiled(
      Compile(Candidate("__global__ void __launch_bounds__(96) k(const float* x, float* y) {\n"
                        "  __shared__ float s[64];\n  float local[200];\n"
                        "  for (int i = 0; i < 200; ++i) local[i] = x[i];\n  s[threadIdx.x % 64] = "
                        "local[(int)x[5] % 200];\n"
                        "  __syncthreads();\n  y[threadIdx.x] = s[63 - threadIdx.x % 64];\n}")));
  ASSERT_EQ(compiled.kernels.size(), 1u);
  const KernelInfo& kernel = compiled.kernels[0];
  EXPECT_GT(kernel.registers, 0);
  EXPECT_EQ(kernel.static_shared_bytes, 256);
  EXPECT_GE(kernel.local_bytes, 800);
  EXPECT_EQ(kernel.spill_bytes, 0);
  EXPECT_EQ(kernel.max_threads_per_block, 96);
  EXPECT_THAT(compiled.log, Not(HasSubstr("ptxas info")));
}

TEST(NvrtcCompiler, TooMuchSharedMemoryIsAResourceError) {
  EXPECT_THAT(Failure(Compile(Candidate(
                  "__global__ void k(float* x, float* y) { __shared__ float s[65536];\n"
                  "s[threadIdx.x] = x[0]; __syncthreads(); y[0] = s[threadIdx.x ^ 1]; }"))),
              HasSubstr("resource_error"));
}

TEST(NvrtcCompiler, TooManyDeviceVariablesAreRejected) {
  EXPECT_THAT(Failure(Compile(Candidate(
                  "__device__ float kept[1 << 20];\n"
                  "__global__ void k(float* x, float* y) { kept[threadIdx.x] = x[0]; }"))),
              AllOf(HasSubstr("rejected"), HasSubstr("__device__")));
}

TEST(NvrtcCompiler, TooMuchLocalMemoryIsAResourceError) {
  EXPECT_THAT(Failure(Compile(
                  Candidate("__global__ void k(float* x, float* y) { float a[8192];\n"
                            "for (int i = 0; i < 8192; ++i) a[i] = x[i]; y[0] = a[(int)x[9]]; }"))),
              AllOf(HasSubstr("resource_error"), HasSubstr("local memory")));
}

TEST(NvrtcCompiler, ANulByteOrAHugeTextIsRejected) {
  EXPECT_THAT(Failure(Compile(Candidate(std::string("__global__ void k() {}\0", 23)))),
              HasSubstr("rejected"));
  EXPECT_THAT(Failure(Compile(Candidate(std::string(kMaxCandidateBytes, ' ')))),
              HasSubstr("rejected"));
}

TEST(NvrtcCompiler, AForgedReportInTheTextIsNotBelieved) {
  const auto compiled = Compiled(Compile(Candidate(
      "#warning \"Compiling entry function '_Z1kPfS_' Used 250 registers, 9 bytes smem\"\n"
      "__global__ void k(float* x, float* y) { y[0] = x[0]; }")));
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_LT(compiled.kernels[0].registers, 64);
}

TEST(MaxThreadsByRegisters, FollowsTheRegisterFile) {
  EXPECT_EQ(MaxThreadsByRegisters(32), 1024);
  EXPECT_EQ(MaxThreadsByRegisters(64), 1024);
  EXPECT_EQ(MaxThreadsByRegisters(65), 896);  // 72 registers a thread: 28 warps
  EXPECT_EQ(MaxThreadsByRegisters(128), 512);
  EXPECT_EQ(MaxThreadsByRegisters(255), 256);
  EXPECT_EQ(MaxThreadsByRegisters(-1), 1024);
}

TEST(Cubin, CutAndScrambledFilesAreRefusedNotRead) {
  const std::string binary =
      Compiled(Compile(Candidate("__device__ int n = 5;\n__global__ void k(int* x) { *x = n++; }")))
          .binary;
  EXPECT_FALSE(Cubin::Parse("").has_value());
  EXPECT_FALSE(
      Cubin::Parse("not a cubin at all, but text of some length to look at, longer than a header"));
  EXPECT_FALSE(Cubin::Parse(std::string_view(binary).substr(0, binary.size() / 2)));
  for (size_t at = 0; at < binary.size(); at += 3) {
    std::string scrambled = binary;
    scrambled[at] = static_cast<char>(scrambled[at] ^ 0xFF);
    const auto cubin = Cubin::Parse(scrambled);
    if (cubin) cubin->Variable("warpsmith_parameters_0"), cubin->DeclaredMaxThreads("_Z1kPi");
  }
  const auto whole = Cubin::Parse(binary);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->Variable("n")->front(), 5);
  EXPECT_FALSE(whole->Variable("m").has_value());
}

}  // namespace
}  // namespace warpsmith
