// Where the programs are that `warpsmith` starts.
#pragma once

#include <string>

#include "common/base/result.h"

namespace warpsmith {

// One of ours, beside the running program. kMissing.
Result<std::string> OwnProgram(const std::string& name);

// Of the system: beside the running program (a bundle brings some), then on PATH. kMissing.
Result<std::string> SystemProgram(const std::string& name);

// A Python that has matplotlib: WARPSMITH_PYTHON, the environment that tools/setup made, python3.
// kMissing.
Result<std::string> PythonWithPictures();

}  // namespace warpsmith
