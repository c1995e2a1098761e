// How an outcome is named, told and weighed.
#pragma once

#include <string>

#include "schema/outcome.h"

namespace warpsmith {

const char* OutcomeName(const Outcome& outcome);  // "wrong_output"
// The word with its argument, one line: "violation(input_modified)", "timeout(verify)".
std::string OutcomeLabel(const Outcome& outcome);
// One line for a policy or a person: label, and the most useful detail.
std::string Describe(const Outcome& outcome);

inline bool IsCorrect(const Outcome& o) { return std::holds_alternative<Correct>(o); }
inline bool IsInfrastructure(const Outcome& o) { return std::holds_alternative<Infrastructure>(o); }
// Whether the outcome may become a reward: it is known here, and the candidate's doing.
inline bool IsRewarded(const Outcome& o) {
  return !IsInfrastructure(o) && !std::holds_alternative<Unrecognized>(o);
}
// 0 when not correct or not measured.
double SpeedupOf(const Outcome& outcome);

}  // namespace warpsmith
