// Row operations (row_program.h): one to 1024 threads share a row, the row may be kept in registers
// or shared memory between the passes over it. Element types are float32, float16 and bfloat16; the
// arithmetic is float32.
#pragma once

#include "policy/core/family.h"

namespace warpsmith {

class RowFamily : public Family {
 public:
  std::string_view name() const override { return "row"; }
  const std::vector<Slot>& slots() const override;
  Status Matches(const Task& task) const override;
  std::vector<uint8_t> Allowed(const Task& task, size_t slot,
                               std::span<const int32_t> earlier) const override;
  std::string Write(const Task& task, DeviceKind device,
                    std::span<const int32_t> choices) const override;
};

}  // namespace warpsmith
