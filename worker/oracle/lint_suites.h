// `warpsmith-oracle --lint SUITE...`: the semantic lint of whole suites, for `warpsmith lint`.
#pragma once

#include <span>
#include <string>

#include "worker/device/oracle_device.h"

namespace warpsmith {

// Prints every problem to standard error, one line each: "suite.yaml: task s/t: ...", and what was
// left out. The exit status: that of the last problem, or 0.
int LintSuites(std::span<const std::string> paths, OracleDevice& device);

}  // namespace warpsmith
