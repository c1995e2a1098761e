#include "worker/cuda/gpu_rig.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "common/model/outcome.h"
#include "common/model/plan.h"
#include "common/wire/codec.h"
#include "worker/cuda/nvrtc_compiler.h"

namespace warpsmith {
namespace {

constexpr Duration kSendLimit = std::chrono::seconds(30);

}  // namespace

RunnerProcess::RunnerProcess() {
  auto pair = FrameSocket::MakePair();
  EXPECT_TRUE(pair.has_value());
  socket_ = std::move(pair->first);
  auto started = Subprocess::Start(
      {.argv = {"/proc/self/exe", "--serve-runner", "9"}, .fds = {{9, pair->second.fd()}}});
  EXPECT_TRUE(started.has_value()) << started.error().message;
  process_ = std::move(*started);
  const auto ready = socket_.Receive(std::chrono::seconds(60));
  EXPECT_TRUE(ready.has_value()) << "the runner does not start";
}

FromRunner RunnerProcess::Ask(const ToRunner& message, const std::vector<int>& fds,
                              Duration limit) {
  if (!socket_.Send(Encode(message), fds, kSendLimit))
    return Failed{.outcome = DeviceFault{"the runner is gone"}};
  const auto frame = socket_.Receive(limit);
  if (!frame) return Failed{.outcome = DeviceFault{"no answer"}};
  auto answer = Decode<FromRunner>(frame->bytes);
  if (!answer) return Failed{.outcome = DeviceFault{"garbage"}};
  return std::move(*answer);
}

bool RunnerProcess::Kill() {
  process_.Signal(SIGKILL);
  return process_.Wait(std::chrono::seconds(30)).has_value();
}

GpuRig::GpuRig() {
  auto oracle = CudaOracleDevice::Create(0);
  if (!oracle) {
    why_not_ = oracle.error();
    return;
  }
  oracle_ = std::move(*oracle);
  runner_ = std::make_unique<RunnerProcess>();
}

GpuRig::~GpuRig() {
  runner_.reset();
  for (RigBuffer& buffer : buffers_) oracle_->Release(buffer.lent);
}

int GpuRig::Buffer(BufferRole role, Dtype dtype, int64_t elements, Placement placement, bool zero) {
  RigBuffer buffer;
  buffer.spec = {.name = fmt::format("b{}", buffers_.size()),
                 .role = role,
                 .dtype = dtype,
                 .shape = {elements},
                 .zero = zero};
  auto lent = oracle_->Allocate(BytesOf(buffer.spec),
                                role == BufferRole::kInput ? Access::kReadOnly : Access::kReadWrite,
                                placement);
  EXPECT_TRUE(lent.has_value()) << lent.error().message;
  buffer.lent = *lent;
  module_.plan.buffers.push_back(buffer.spec);
  buffers_.push_back(buffer);
  return static_cast<int>(buffers_.size()) - 1;
}

void GpuRig::Launch(const std::string& name, std::array<uint32_t, 3> grid,
                    std::array<uint32_t, 3> block, std::vector<ResolvedArgument> arguments,
                    uint32_t shared, std::array<uint32_t, 3> cluster) {
  auto found = std::find(kernel_names_.begin(), kernel_names_.end(), name);
  if (found == kernel_names_.end()) {
    kernel_names_.push_back(name);
    found = kernel_names_.end() - 1;
  }
  module_.plan.launches.push_back({.kernel = static_cast<int>(found - kernel_names_.begin()),
                                   .grid = grid,
                                   .block = block,
                                   .cluster = cluster,
                                   .shared_bytes = shared,
                                   .arguments = std::move(arguments)});
}

FromRunner GpuRig::Start(const std::string& code) {
  std::string text = "/* warpsmith\nlaunches:\n";
  for (const std::string& name : kernel_names_)
    text += fmt::format("  - {{kernel: \"{}\", grid: 1, block: 1, args: x}}\n", name);
  text += "*/\n" + code;
  NvrtcCompiler compiler;
  const CompileReply reply = compiler.Compile({.text = text,
                                               .device_kind = DeviceKind::kCuda,
                                               .architecture = oracle_->facts().architecture});
  const auto* compiled = std::get_if<CompiledCandidate>(&reply.result);
  EXPECT_NE(compiled, nullptr) << Describe(std::get<Outcome>(reply.result));
  if (compiled == nullptr) return Failed{};
  module_.binary = compiled->binary;
  module_.kernels = compiled->kernels;
  FromRunner loaded = runner_->Ask(module_);
  if (!std::holds_alternative<Done>(loaded)) return loaded;

  BindBuffers bind;
  std::vector<int> fds;
  for (const RigBuffer& buffer : buffers_) {
    bind.buffers.push_back(buffer.lent.handle);
    if (buffer.lent.fd >= 0) fds.push_back(buffer.lent.fd);
  }
  return runner_->Ask(bind, fds);
}

FromRunner GpuRig::Run(bool timed, bool dirty_shared, size_t times) {
  EXPECT_TRUE(oracle_->Synchronize().has_value());
  return runner_->Ask(RunPlan{
      .sets = std::vector<uint32_t>(times, 0), .timed = timed, .dirty_shared = dirty_shared});
}

void GpuRig::CopyOut(const OracleBuffer& from, void* to, size_t bytes) {
  EXPECT_TRUE(oracle_->Synchronize().has_value());
  const auto driver = LoadDriver();
  ASSERT_TRUE(driver.has_value());
  EXPECT_EQ((*driver)->cuMemcpyDtoH(to, reinterpret_cast<CUdeviceptr>(from.data), bytes),
            CUDA_SUCCESS);
}

void GpuRig::CopyIn(const void* from, const OracleBuffer& to, size_t bytes) {
  const auto driver = LoadDriver();
  ASSERT_TRUE(driver.has_value());
  EXPECT_EQ((*driver)->cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(to.data), from, bytes),
            CUDA_SUCCESS);
}

ResolvedArgument BufferArgument(int buffer) {
  return {.buffer = buffer, .type = ParameterType::kPointer};
}

}  // namespace warpsmith
