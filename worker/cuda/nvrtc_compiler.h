// The CUDA device's compiler: plan and text checks, prelude, NVRTC, and what the cubin says of its
// kernels. Needs the toolkit's headers and NVRTC (common/runtime/install.h: CudaRoot), no GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/device/kernel_compiler.h"

namespace warpsmith {

// Thread-compatible. Runs where hostile text is allowed: the compiler child's sandbox bounds its
// time, memory and files.
class NvrtcCompiler : public KernelCompiler {
 public:
  // Asks the environment where the toolkit is; it may be erased afterwards.
  NvrtcCompiler();

  CompileReply Compile(const CompileRequest& request) override;
};

// What `--ptxas-options=-v` says of one kernel in the log; -1 where it says nothing.
struct PtxasReport {
  int registers = -1;
  int spill_bytes = -1;
  int static_shared_bytes = -1;
  int local_bytes = -1;
};
PtxasReport ReadPtxasReport(std::string_view log, std::string_view symbol);

// The largest block that the register file (65,536 registers, handed out in units of 256 a warp to
// groups of four warps) lets a kernel have. NVIDIA, CUDA C++ Programming Guide, "Compute
// Capabilities".
int MaxThreadsByRegisters(int registers);

}  // namespace warpsmith
