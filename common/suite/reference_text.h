// What can be told of a reference's text without compiling it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

// The parameter names of `def reference(x: Tensor, rows: int) -> Tensor:`, in order. kInvalidInput
// when there is no such definition, or more than one.
Result<std::vector<std::string>> ReferenceParameters(std::string_view text);

}  // namespace warpsmith
