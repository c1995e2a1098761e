// The seam between a candidate's text and a binary. Real: NVRTC (worker/cuda), g++ with a CUDA shim
// (worker/host). They run in sandboxed compiler children, never in the supervisor.
#pragma once

#include "schema/child.h"

namespace warpsmith {

using CompileResult = decltype(CompileReply::result);

// Thread-compatible: one call at a time.
class KernelCompiler {
 public:
  virtual ~KernelCompiler() = default;

  // Parses the plan, compiles the text, reads the kernels' parameter types. Never throws and never
  // fails otherwise than by an outcome in the reply: Rejected, CompileError, ResourceError, or
  // Infrastructure where the toolkit or the architecture is not there.
  virtual CompileReply Compile(const CompileRequest& request) = 0;
};

}  // namespace warpsmith
