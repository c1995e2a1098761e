// For GPU tests: an oracle's device here, and a runner in a process of its own, as in production.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/net/frame_socket.h"
#include "common/runtime/subprocess.h"
#include "schema/child.h"
#include "worker/cuda/cuda_oracle_device.h"

namespace warpsmith {

// A runner process (this program, started again). Dies with the object.
class RunnerProcess {
 public:
  RunnerProcess();

  // What the runner answers, or a DeviceFault of "no answer" after `limit`: then it is still busy.
  FromRunner Ask(const ToRunner& message, const std::vector<int>& fds = {},
                 Duration limit = std::chrono::seconds(30));
  // SIGKILL; true when it is gone within a generous time.
  bool Kill();

 private:
  FrameSocket socket_;
  Subprocess process_;
};

// One tensor of a test's plan.
struct RigBuffer {
  BufferSpec spec;
  Placement placement = Placement::kAligned256;
  OracleBuffer lent;
};

// Compiles one candidate text and drives it through oracle and runner.
class GpuRig {
 public:
  GpuRig();
  ~GpuRig();

  bool ready() const { return oracle_ != nullptr; }
  const Error& why_not() const { return why_not_; }

  // Buffers in the order of the plan. Returns its index, for arguments.
  int Buffer(BufferRole role, Dtype dtype, int64_t elements,
             Placement placement = Placement::kAligned256, bool zero = false);
  // One launch of the text's kernel `name`; arguments as BufferArgument and ScalarArgument make
  // them.
  void Launch(const std::string& name, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
              std::vector<ResolvedArgument> arguments, uint32_t shared = 0,
              std::array<uint32_t, 3> cluster = {1, 1, 1});
  // Compiles the text, loads it into the runner and lends the buffers as set 0. The runner's first
  // failure, or Done.
  FromRunner Start(const std::string& code);
  FromRunner Run(bool timed = false, bool dirty_shared = false, size_t times = 1);

  CudaOracleDevice& oracle() { return *oracle_; }
  RunnerProcess& runner() { return *runner_; }
  const OracleBuffer& lent(int buffer) const { return buffers_[static_cast<size_t>(buffer)].lent; }
  // The buffer's first elements, copied to the host.
  template <typename T>
  std::vector<T> Read(int buffer) {
    const OracleBuffer& from = lent(buffer);
    std::vector<T> values(from.handle.size / sizeof(T));
    CopyOut(from, values.data(), values.size() * sizeof(T));
    return values;
  }
  void CopyIn(const void* from, const OracleBuffer& to, size_t bytes);
  LoadModule& module() { return module_; }

 private:
  void CopyOut(const OracleBuffer& from, void* to, size_t bytes);

  Error why_not_;
  std::unique_ptr<CudaOracleDevice> oracle_;
  std::unique_ptr<RunnerProcess> runner_;
  std::vector<RigBuffer> buffers_;
  std::vector<std::string> kernel_names_;
  LoadModule module_;
};

ResolvedArgument BufferArgument(int buffer);
template <typename T>
ResolvedArgument ScalarArgument(ParameterType type, T value) {
  static_assert(sizeof(T) <= 8);
  ResolvedArgument argument;
  argument.type = type;
  std::memcpy(argument.bits.data(), &value, sizeof(T));
  return argument;
}

}  // namespace warpsmith
