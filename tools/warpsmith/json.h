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

}  // namespace warpsmith
