// warpsmith lint: what is wrong with suites, by their texts and then by running their references.
#include <fmt/format.h>

#include "common/runtime/files.h"
#include "common/runtime/subprocess.h"
#include "common/suite/suite_file.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/programs.h"

namespace warpsmith {
namespace {

constexpr Duration kLimit = std::chrono::minutes(30);

// References run where libtorch is: in the oracle's program, which prints what it finds.
Result<int> RunReferences(const std::vector<std::string>& suites) {
  const auto oracle = OwnProgram("warpsmith-oracle");
  if (!oracle) {
    fmt::print(stderr,
               "no reference was run, so that a task that can be cheated is not seen: this "
               "build is without libtorch (--static says that this is meant)\n");
    return 0;
  }
  SubprocessOptions options;
  options.argv = {*oracle, "--lint"};
  options.argv.insert(options.argv.end(), suites.begin(), suites.end());
  ASSIGN_OR_RETURN(auto child, Subprocess::Start(options));
  const auto exit = child.Wait(kLimit);
  if (!exit)
    return Fail(ErrorCode::kTimeout, "the references took over half an hour: make cases smaller");
  if (exit->signal != 0)
    return Fail(ErrorCode::kInternal,
                fmt::format("running the references was ended by signal {}", exit->signal));
  if (exit->status == 127)  // the system's word, already said why
    return Fail(ErrorCode::kMissing, *oracle + " cannot be loaded: run tools/setup, then build");
  return exit->status;
}

}  // namespace

Result<int> RunLint(const LintOptions& options) {
  int status = 0;
  std::vector<std::string> readable;
  std::string fine;
  for (const auto& path : options.suites) {
    const auto suite = LoadSuite(path);
    if (!suite) {
      fmt::print(stderr, "{}\n", suite.error().message);
      status = ExitStatus(suite.error().code);
      continue;
    }
    readable.push_back(path);
    size_t starters = 0;
    for (const auto& task : suite->tasks) starters += !task.starter.empty();
    fine += fmt::format("{}: suite {} is fine: {} task{}, {} with a starter\n", path, suite->name,
                        suite->tasks.size(), suite->tasks.size() == 1 ? "" : "s", starters);
  }
  if (!options.only_static && !readable.empty()) {
    ASSIGN_OR_RETURN(const int found, RunReferences(readable));
    if (found != 0) return found;
  }
  RETURN_IF_ERROR(WriteStdout(fine));
  return status;
}

}  // namespace warpsmith
