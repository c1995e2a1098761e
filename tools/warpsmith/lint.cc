// warpsmith lint: the static check of suites.
#include <fmt/format.h>

#include <cstdio>

#include "common/suite/suite_file.h"
#include "tools/warpsmith/commands.h"

namespace warpsmith {

Result<int> RunLint(const LintOptions& options) {
  int status = 0;
  for (const auto& path : options.suites) {
    const auto suite = LoadSuite(path);
    if (!suite) {
      fmt::print(stderr, "{}\n", suite.error().message);
      status = ExitStatus(suite.error().code);
      continue;
    }
    size_t starters = 0;
    for (const auto& task : suite->tasks) starters += !task.starter.empty();
    fmt::print("{}: suite {} is fine: {} task{}, {} with a starter\n", path, suite->name,
               suite->tasks.size(), suite->tasks.size() == 1 ? "" : "s", starters);
  }
  return status;
}

}  // namespace warpsmith
