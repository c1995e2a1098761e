#include "worker/oracle/lint_suites.h"

#include <iostream>

#include "common/suite/suite_file.h"
#include "worker/oracle/lint.h"
#include "worker/oracle/reference.h"

namespace warpsmith {
namespace {

Status Lint(const Task& task, OracleDevice& device) {
  const DeviceFacts& facts = device.facts();
  ASSIGN_OR_RETURN(const Reference reference, Reference::Compile(task, facts.kind, facts.index));
  return LintTask(task, reference, device);
}

}  // namespace

int LintSuites(std::span<const std::string> paths, OracleDevice& device) {
  const DeviceKind kind = device.facts().kind;
  int status = 0;
  const auto say = [&](const std::string& path, const Error& error) {
    std::cerr << path << ": " << error.message << "\n";
    status = ExitStatus(error.code);
  };
  for (const std::string& path : paths) {
    const auto suite = LoadSuite(path);
    if (!suite) {
      say(path, suite.error());
      continue;
    }
    for (const Task& task : suite->tasks) {
      if (CasesOf(task, kind).empty())
        std::cerr << path << ": note: task " << task.id.value() << " has no case for device "
                  << ToString(kind) << ", so its reference was not run\n";
      else if (const Status linted = Lint(task, device); !linted)
        say(path, linted.error());
    }
  }
  return status;
}

}  // namespace warpsmith
