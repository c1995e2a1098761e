// The real compiler child, asked as a supervisor asks it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "common/model/outcome.h"
#include "common/net/frame_socket.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"
#include "common/wire/codec.h"
#include "schema/child.h"
#include "tests/support/proc.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

constexpr const char* kScale = R"cuda(/* warpsmith
launches:
  - {kernel: scale, grid: "ceil_div(n, 256)", block: "256", args: "x, y, n"}
*/
__global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)cuda";

class CompilerChild : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override { Start({}); }

  void Start(std::map<std::string, std::string> env, const std::string& folder = "compiler-test") {
    // The leak sanitizer reads /proc when a process ends, which the sandbox does not allow.
    env["ASAN_OPTIONS"] = "detect_leaks=0";
    temp_ = std::move(*TempDirectory::Make(folder));
    auto ends = std::move(*FrameSocket::MakePair());
    socket_ = std::move(ends.first);
    auto child = Subprocess::Start({.argv = {(ProgramDirectory() / "warpsmith-compiler").string(),
                                             "--fd", "3", "--temp", temp_.path().string()},
                                    .fds = {{3, ends.second.fd()}},
                                    .env = std::move(env)});
    ASSERT_TRUE(child) << child.error().message;
    child_ = *std::move(child);
  }

  CompileReply Compile(std::string text) {
    CompileRequest request{.id = ++id_, .text = std::move(text), .device_kind = GetParam()};
    if (GetParam() == DeviceKind::kCuda) request.architecture = "sm_90a";
    EXPECT_TRUE(socket_.Send(Encode(request), {}, 10s));
    Result<Frame> frame = socket_.Receive(60s);
    EXPECT_TRUE(frame) << frame.error().message;
    return frame ? *Decode<CompileReply>(frame->bytes) : CompileReply{};
  }
  static std::string Log(const CompileReply& reply) {
    const auto* outcome = std::get_if<Outcome>(&reply.result);
    if (!outcome) return std::get<CompiledCandidate>(reply.result).log;
    if (const auto* error = std::get_if<CompileError>(outcome)) return error->log;
    return Describe(*outcome);
  }

  TempDirectory temp_;
  FrameSocket socket_;
  Subprocess child_;
  uint64_t id_ = 0;
};

TEST_P(CompilerChild, CompilesInsideItsSandbox) {
  for (int i = 0; i < 2; ++i) {
    CompileReply reply = Compile(kScale);
    const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
    ASSERT_TRUE(compiled) << Log(reply);
    ASSERT_EQ(compiled->kernels.size(), 1u);
    EXPECT_EQ(
        compiled->kernels[0].parameters,
        (std::vector{ParameterType::kPointer, ParameterType::kPointer, ParameterType::kInt32}));
    EXPECT_TRUE(
        compiled->binary.starts_with("\x7f"
                                     "ELF"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path())) << "nothing stays from request to request";
}

TEST_P(CompilerChild, CompilesInAFolderWithANameInAnyScript) {
  Start({}, "compiler 编译 käse");
  CompileReply reply = Compile(kScale);
  EXPECT_TRUE(std::holds_alternative<CompiledCandidate>(reply.result)) << Log(reply);
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path()));
}

TEST_P(CompilerChild, TellsTheAuthorsLineOfAMistake) {
  std::string text = kScale;
  text.replace(text.find("2 * x[i]"), 8, "2 * w[i]");
  CompileReply reply = Compile(text);
  ASSERT_TRUE(std::holds_alternative<Outcome>(reply.result));
  EXPECT_TRUE(std::holds_alternative<CompileError>(std::get<Outcome>(reply.result))) << Log(reply);
  EXPECT_TRUE(std::regex_search(Log(reply), std::regex("candidate\\.cu[(:]7"))) << Log(reply);
}

TEST_P(CompilerChild, ShowsNoFileOfTheHost) {
  for (const char* include : {"#include \"/etc/passwd\"\n", "#include \"../../../../etc/passwd\"\n",
                              "#define F </etc/passwd>\n#include F\n"}) {
    CompileReply reply = Compile(std::string(kScale) + include);
    ASSERT_TRUE(std::holds_alternative<Outcome>(reply.result)) << include;
    EXPECT_EQ(Log(reply).find("root:"), std::string::npos) << Log(reply);
  }
}

TEST_P(CompilerChild, EndsWhenItsParentIsGone) {
  Compile(kScale);
  socket_ = FrameSocket();
  auto exit = child_.Wait(20s);
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->status, 0);
}

TEST_P(CompilerChild, EndsWhenItIsToldRubbish) {
  ASSERT_TRUE(socket_.Send(std::string(64, 'x'), {}, 10s));
  auto exit = child_.Wait(20s);
  ASSERT_TRUE(exit);
  EXPECT_NE(exit->status, 0);
}

// Takes a compiler much longer than this test: two to the power of 26 classes.
constexpr const char* kBomb = R"cuda(
template <int Depth, long Index>
struct Tree : Tree<Depth - 1, 2 * Index>, Tree<Depth - 1, 2 * Index + 1> {};
template <long Index> struct Tree<0, Index> {};
__device__ Tree<26, 0> tree;
)cuda";

TEST(CompilerGroup, GoesWholeWhenTheSupervisorIsKilledInTheMiddleOfACompilation) {
  auto temp = std::move(*TempDirectory::Make("compiler-test"));
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    setsid();  // whatever is left behind keeps the session
    auto ends = std::move(*FrameSocket::MakePair());
    auto child = Subprocess::Start({.argv = {(ProgramDirectory() / "warpsmith-compiler").string(),
                                             "--fd", "3", "--temp", temp.path().string()},
                                    .fds = {{3, ends.second.fd()}},
                                    .env = {{"ASAN_OPTIONS", "detect_leaks=0"}}});
    CompileRequest request{.id = 1, .text = std::string(kScale) + kBomb};
    request.device_kind = DeviceKind::kHost;
    (void)ends.first.Send(Encode(request), {}, 10s);
    for (;;) pause();
  }
  const bool began = Soon([&] {
    const auto all = AllProcesses();
    return std::any_of(all.begin(), all.end(), [&](const ProcessState& process) {
      return process.session == supervisor && process.name == "cc1plus";
    });
  });
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  EXPECT_TRUE(began);
  EXPECT_TRUE(SessionEndsSoon(supervisor));
}

// Each compiler has a table of its own from types to codes; both say the same of one text.
TEST_P(CompilerChild, TellsEachParametersTypeAsTheEnumHasIt) {
  const CompileReply reply = Compile(R"cuda(/* warpsmith
launches:
  - {kernel: k, grid: "1", block: "32", args: "x"}
  - {kernel: again, grid: "1", block: "32", args: "x"}
*/
struct Pair { int a, b; };
__global__ void k(float* x, signed char a, unsigned char b, short c, unsigned short d, int e,
                  unsigned int f, long long g, unsigned long long h, float i, double j, __half l,
                  __nv_bfloat16 m, bool n, Pair o) {}
__global__ void again(void** x, char a, uint8_t b, int16_t c, const unsigned short d, const int e,
                      uint32_t f, long g, unsigned long h, const float i, const double j,
                      const __half l, const __nv_bfloat16 m, const bool n, float2 o) {}
)cuda");
  const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
  ASSERT_TRUE(compiled) << Log(reply);
  std::vector<ParameterType> all;
  for (int code = 0; code <= static_cast<int>(ParameterType::kUnsupported); ++code)
    all.push_back(static_cast<ParameterType>(code));
  ASSERT_EQ(compiled->kernels.size(), 2u);
  for (const KernelInfo& kernel : compiled->kernels) EXPECT_EQ(kernel.parameters, all);
}

class CudaCompilerChild : public CompilerChild {};

TEST_P(CudaCompilerChild, UsesTheToolkitThatItsEnvironmentNamedBeforeItWasErased) {
  const auto empty = std::move(*TempDirectory::Make("no-toolkit"));
  Start({{"WARPSMITH_CUDA_ROOT", empty.path().string()}});
  const CompileReply reply = Compile(kScale);
  ASSERT_TRUE(std::holds_alternative<Outcome>(reply.result));
  EXPECT_TRUE(IsInfrastructure(std::get<Outcome>(reply.result)));
  EXPECT_NE(Log(reply).find(empty.path().string()), std::string::npos) << Log(reply);
}

INSTANTIATE_TEST_SUITE_P(Devices, CudaCompilerChild, ::testing::Values(DeviceKind::kCuda));

INSTANTIATE_TEST_SUITE_P(Devices, CompilerChild,
                         ::testing::Values(DeviceKind::kCuda, DeviceKind::kHost),
                         [](const auto& device) { return std::string(ToString(device.param)); });

}  // namespace
}  // namespace warpsmith
