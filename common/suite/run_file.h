// Run files (docs/design.md, "Learning"): what to train, on which suites, for how long.
//
//   run: first
//   suites: [suites/starter.yaml]        # relative to the run file, or to the current folder
//   policy: {kind: grammar}              # grammar, random
//   algorithm: {turns: 4, group: 16}     # optional, with all that common/model/run.h has
//   reward: hybrid                       # optional: milestone, hybrid, speedup
//   budget: {evaluations: 10000}
//   device: auto                         # optional: auto, cuda, host, simulated
//   seed: 1                              # optional
//
// As strict as suite files, with all problems at once.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/run.h"

namespace warpsmith {

constexpr size_t kMaxRunBytes = 64 << 10;

using SuiteLoader = std::function<Result<Suite>(const std::string& path)>;

// Pure but for what the loader does. kInvalidInput: every problem of the file and of its suites.
Result<RunSpec> ParseRun(std::string_view text, std::string_view file, const SuiteLoader& loader);

// kNotFound where the run file is not.
Result<RunSpec> LoadRun(const std::filesystem::path& path);

}  // namespace warpsmith
