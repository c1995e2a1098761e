// Records as JSON, for scripts and for the report. Numbers that are not finite become null.
#pragma once

#include <string>

#include "common/model/client_protocol.h"

namespace warpsmith {

// One line: {"outcome", "label", "describe", "task", "device": {...}, "speedup", "measurements":
// [...], "stages_ms": {...}, "kernels": [...], "log", "candidate_hash", "depth"}.
std::string EvaluationJson(const Evaluation& evaluation);

// All that a report draws of one run: {"status", "evaluations", "steps", "best"}.
std::string RunJson(const History& history, const BestTable& best);

// `status --json`: a RunStatus, or a ClusterStatus with its runs and workers, field by field.
std::string StatusJson(const RunStatus& status);
std::string StatusJson(const ClusterStatus& status);

}  // namespace warpsmith
