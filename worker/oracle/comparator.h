// Compares outputs on the device where they lie, chunk by chunk, so that memory stays bounded. What
// is right is defined by worker/judgement/verdict.h; a quick pass on the device finds out whether
// anything is wrong, and only then elements come to the host to be reported. Thread-compatible: the
// oracle's one thread.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "worker/device/oracle_device.h"
#include "worker/judgement/verdict.h"
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
  // Where the tensors lie: it compares plain values in one pass.
  OracleDevice* device = nullptr;
};

// Whether the output is right; never more than a report would find.
Result<bool> Passes(const Comparand& comparand);
// Element by element; nothing: it is right.
Result<std::optional<WrongOutputReport>> Report(const Comparand& comparand);

// Passes by tensor operations alone: for what the device's one pass does not know (whole numbers,
// bits, ulps, indices). Public for the test that holds it against Report.
Result<bool> PassesByTensors(const Comparand& comparand);

}  // namespace warpsmith
