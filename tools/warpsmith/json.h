// Records as JSON, for scripts and for the report: the members of schema/ by their names
// (common/wire/json.h). Numbers that are not finite become null.
#pragma once

#include <string>

#include "schema/client.h"

namespace warpsmith {

// One line: the Evaluation, and "label", "describe" and "speedup", which follow from its outcome.
std::string EvaluationJson(const Evaluation& evaluation);

// All that a report draws of one run: the History, and the rows of the BestTable as "best".
std::string RunJson(const History& history, const BestTable& best);

// `status --json`.
std::string StatusJson(const RunStatus& status);
std::string StatusJson(const ClusterStatus& status);

}  // namespace warpsmith
