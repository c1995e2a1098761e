// The command line of `warpsmith`.
#pragma once

#include <functional>
#include <variant>

#include "common/base/result.h"

namespace warpsmith {

// What to do, or the exit status where the command line was answered already (help, a mistake).
std::variant<std::function<Result<int>()>, int> ParseArguments(int argc, const char* const* argv);

}  // namespace warpsmith
