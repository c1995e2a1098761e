// What a task's expressions come to for one case: buffers with sizes in numbers, scalars with
// values. Pure. Suites that common/suite loaded have been checked for every case, so for them the
// functions fail only for dims that are no case's.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "common/model/plan.h"
#include "common/model/task.h"
#include "common/suite/expression.h"

namespace warpsmith {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;

// A list of sizes, none negative.
Result<std::vector<int64_t>> EvaluateShape(const std::vector<std::string>& shape,
                                           const Names& names);

// One buffer's shape in numbers; refuses more than kMaxBufferBytes.
Result<BufferSpec> SizedBuffer(const std::string& name, BufferRole role, Dtype dtype,
                               const std::vector<std::string>& shape, const Names& names);

// The task's inputs, then its outputs.
Result<std::vector<BufferSpec>> TaskBuffers(const Task& task, const Dims& dims);

// The scalar's value for these dims; whole numbers up to 2^53 are exact.
Result<double> ScalarValue(const ScalarSpec& scalar, const Dims& dims);

// Whole-number scalars in full 64 bits.
Result<int64_t> IntegerScalarValue(const ScalarSpec& scalar, const Dims& dims);

}  // namespace warpsmith
