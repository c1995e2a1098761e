// Compares outputs on the device where they lie, chunk by chunk, so that memory stays bounded. What
// is right is defined by worker/core/verdict.h; on a GPU a quick pass by tensor operations finds
// out whether anything is wrong, and only then elements come to the host to be reported.
// Thread-compatible: the oracle's one thread.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "worker/core/verdict.h"
#include "worker/oracle/values.h"

namespace warpsmith {

// Errors of a result against the exact one, over the elements that are finite in both.
Result<ErrorStats> ErrorsOf(const Values& got, const Values& exact, size_t index);

struct Comparand {
  const OutputSpec* spec = nullptr;
  Case timed_case;
  ElementRule rule;
  // For kExact and kIndexByValue: what the reference returns in the output's own dtype. Else:
  // exact.
  const Values* expected = nullptr;
  const Values* got = nullptr;
  size_t expected_index = 0;
  size_t got_index = 0;
  // For kIndexByValue: the input that the indices point into.
  const Values* pointed = nullptr;
  size_t pointed_index = 0;
  // For a report: one tensor like `got` full of its poison.
  const Values* poison = nullptr;
};

// Whether the output is right; never more than a report would find.
Result<bool> Passes(const Comparand& comparand);
// Element by element; nothing: it is right.
Result<std::optional<WrongOutputReport>> Report(const Comparand& comparand);

// Passes by tensor operations alone, as on a GPU. Public for the test that holds it against Report.
Result<bool> PassesByTensors(const Comparand& comparand);

}  // namespace warpsmith
