// What may not stand in a candidate for the CUDA device, seen from the text alone
// (docs/design.md, "Candidate file"). What needs a C++ parser (a function that is host code) NVRTC
// refuses; the compiler child's sandbox stands behind both. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/outcome.h"

namespace warpsmith {

// The names that the text includes, in order ("cuda_fp16.h"), or what is wrong, with its line, and
// what is allowed instead. Size, NUL bytes and the byte-order mark are AdmitCandidate's
// (common/suite/plan_file.h).
std::variant<std::vector<std::string>, Rejected> CheckDeviceText(std::string_view text);

}  // namespace warpsmith
