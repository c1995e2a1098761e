// A task's reference: TorchScript text, compiled once and called on buffers. What it computes is
// the truth (in fp64) and the baseline (as eager PyTorch would, at PyTorch's default precision
// settings). Calls are eager: no profiling, no fusion. Thread-compatible: the oracle's one thread.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/model/plan.h"
#include "common/model/task.h"
#include "worker/oracle/values.h"

namespace warpsmith {

// libtorch's settings for an oracle: `threads` for one operation, one operation at a time. Once,
// before anything else here.
void ConfigureTorch(int threads);

// dtype names as libtorch's compiler needs them: `torch.float32` -> `6`.
std::string NumberDtypes(const std::string& text);

// A reference with its arguments, ready to be called again and again.
class BoundReference {
 public:
  // The outputs, in order. kInvalidInput: the reference failed, with its own words; kExhausted: the
  // device's memory.
  Result<Values> Run() const;

 private:
  friend class Reference;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

class Reference {
 public:
  // kInvalidInput names the task and says what the compiler said, or which parameter is nothing of
  // the task's.
  static Result<Reference> Compile(const Task& task, DeviceKind kind, int device_index);

  // Inputs are views in the order of the task's. The views stay valid as long as the bound call.
  Result<BoundReference> Bind(const Dims& dims, std::span<const TensorView> inputs) const;

  // One call, its outputs checked: number, dtypes, shapes, dense memory of their own. `buffers` are
  // the task's inputs, then its outputs, for these dims.
  Result<Values> Run(const Dims& dims, std::span<const TensorView> inputs,
                     std::span<const BufferSpec> buffers) const;
  // The same at strict precision (no TF32): what error bounds are taken from.
  Result<Values> RunStrict(const Dims& dims, std::span<const TensorView> inputs,
                           std::span<const BufferSpec> buffers) const;
  // In fp64: floating inputs are cast, or `reference64` is called with them. Values that the
  // output's dtype cannot hold are infinite.
  Result<Values> RunExact(const Dims& dims, std::span<const TensorView> inputs,
                          std::span<const BufferSpec> buffers) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace warpsmith
