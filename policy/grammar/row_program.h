// A reference that works row by row, as reductions along the last dimension and one elementwise
// result: softmax, log_softmax, rms_norm, layer_norm, normalize, logsumexp, and any expression with
// sum, mean, amax, amin over the last dimension. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/task.h"
#include "policy/core/reference.h"

namespace warpsmith {

enum class RowReduce {
  kSum,
  kMean,
  kMax,
  kMin,
  kSumExp,  // sum(exp(of - max)) together with `max` in one pass, rescaled as the maximum grows
};

struct RowReduction {
  RowReduce reduce = RowReduce::kSum;
  ExprPtr of;        // elementwise in inputs, scalars and earlier reductions
  std::string name;  // what later expressions call it: "row_max"
  size_t level = 0;  // the pass over the row that computes it; 0 is the first
  std::string max;   // for kSumExp: the reduction that it grows with
};

struct RowProgram {
  std::vector<const InputSpec*> whole;    // [..., columns]: read a part at a time
  std::vector<const InputSpec*> columns;  // [columns]: one value a column, such as a weight
  std::vector<const ScalarSpec*> scalars;
  std::vector<RowReduction> reductions;  // in order of level
  ExprPtr result;
  bool per_row = false;  // one value a row instead of one an element
  size_t passes = 0;     // levels
};

// How many passes a row's statistics take: as many as the textbook formula, or one where a formula
// for that exists (softmax rescales as it goes; a variance is E[x^2] - E[x]^2, which is quicker and
// loses digits).
enum class PassMode { kTwo, kOne };

// kInvalidInput says why the task is no such operation.
Result<RowProgram> ReadRowProgram(const Task& task, PassMode mode);

}  // namespace warpsmith
