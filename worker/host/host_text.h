// What may not stand in a candidate for the host device, seen from the text alone: includes outside
// the allow-list, directives that read files, host code, and what a CPU cannot do, named as such.
// The checks of the object (object_file.h) and the sandbox stand behind it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/outcome.h"
#include "worker/device/source_text.h"

namespace warpsmith {

std::optional<Rejected> CheckHostText(std::string_view text);

// Headers that candidates may include. All are empty: the shim has their content in place.
const std::vector<std::string>& HostHeaders();

// The first function with a body that is neither __device__ nor __global__ (nor constexpr), by name
// and line: "f (line 3)". Reads what a reader sees without expanding macros, but knows macros that
// stand for a qualifier. A brace too many counts as one: it would end the namespace that the text
// stands in. Nothing also where braces stay open, which is the compiler's to report.
std::optional<std::string> FindHostFunction(const StrippedText& stripped);

}  // namespace warpsmith
