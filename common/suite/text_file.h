// Small text files of people: suites, runs, candidates.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace warpsmith {

// How long to wait for somebody to open a pipe, and for what a writer says next: it may be at work
// on it, as in `warpsmith eval suite.yaml task <(write_a_kernel)`.
struct PipePatience {
  Duration for_a_writer = std::chrono::seconds(10);
  Duration for_its_words = std::chrono::minutes(10);
};

// The whole file, or pipe. kNotFound: it is not there, cannot be read, or is a pipe that nobody
// writes into for so long; kInvalidInput: a folder, permissions, or more than `max_bytes`.
Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes,
                                 PipePatience patience = {});

}  // namespace warpsmith
