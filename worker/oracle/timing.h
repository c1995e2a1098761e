// Timing of one case: candidate and baseline in turns, on content that neither has seen
// (docs/design.md, "Rules": 1, 2 and 5 to 9).
#pragma once

#include <variant>

#include "worker/judgement/evaluation.h"
#include "worker/oracle/bench.h"

namespace warpsmith {

// A measurement, which may say that it is not valid; or how the evaluation ends, because a timed
// output was wrong, the runs were uneven, or something broke.
std::variant<Measurement, Outcome> TimeCase(Bench& bench, const EvaluationSteps& steps,
                                            size_t case_index);

}  // namespace warpsmith
