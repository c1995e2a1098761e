// The runner's half of a device: it launches what it is told and knows no expected value. Real:
// worker/cuda, worker/host; a hostile fake is in the oracle's tests. Thread-compatible.
#pragma once

#include <span>
#include <variant>

#include "schema/child.h"

namespace warpsmith {

class RunnerDevice {
 public:
  virtual ~RunnerDevice() = default;

  using Reply = std::variant<Done, Failed>;

  virtual Reply Load(const LoadModule& module) = 0;
  // Takes the descriptors over: closes them when no longer needed, also on failure.
  virtual Reply Bind(const BindBuffers& buffers, std::span<const int> fds) = 0;
  virtual Reply Run(const RunPlan& run) = 0;
};

}  // namespace warpsmith
