// Small text files of people: suites, runs, candidates.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"

namespace warpsmith {

// The whole file. kNotFound: it is not there, or is no file; kInvalidInput: more than `max_bytes`.
Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes);

}  // namespace warpsmith
