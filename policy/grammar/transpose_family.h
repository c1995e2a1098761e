// Transposing a matrix, of any element type: through a tile in shared memory, or directly with
// strided reads or writes.
#pragma once

#include "policy/core/family.h"

namespace warpsmith {

class TransposeFamily : public Family {
 public:
  std::string_view name() const override { return "transpose"; }
  const std::vector<Slot>& slots() const override;
  Status Matches(const Task& task) const override;
  std::vector<uint8_t> Allowed(const Task& task, size_t slot,
                               std::span<const int32_t> earlier) const override;
  std::string Write(const Task& task, DeviceKind device,
                    std::span<const int32_t> choices) const override;
};

}  // namespace warpsmith
