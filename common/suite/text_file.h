// Small text files of people: suites, runs, candidates.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.h"

namespace warpsmith {

// The whole file, or pipe. kNotFound: it is not there, cannot be read, or is a pipe that nobody
// writes into for ten seconds; kInvalidInput: a folder, permissions, or more than `max_bytes`.
Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes);

}  // namespace warpsmith
