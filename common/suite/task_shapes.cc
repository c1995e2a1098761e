#include "common/suite/task_shapes.h"

#include <fmt/format.h>

#include <cmath>

namespace warpsmith {

Result<std::vector<int64_t>> EvaluateShape(const std::vector<std::string>& shape,
                                           const Names& names) {
  std::vector<int64_t> sizes;
  for (const auto& text : shape) {
    ASSIGN_OR_RETURN(const int64_t size, EvaluateExpression(text, names));
    if (size < 0)
      return Fail(ErrorCode::kInvalidInput, fmt::format("size `{}` is {}, below zero", text, size));
    sizes.push_back(size);
  }
  return sizes;
}

Result<BufferSpec> SizedBuffer(const std::string& name, BufferRole role, Dtype dtype,
                               const std::vector<std::string>& shape, const Names& names) {
  BufferSpec buffer{.name = name, .role = role, .dtype = dtype};
  ASSIGN_OR_RETURN(buffer.shape, EvaluateShape(shape, names));
  // Also where a size is 0: the others' product must not overflow in anybody's hands.
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (const int64_t size : buffer.shape) {
    if (size > 0 && (__builtin_mul_overflow(bytes, size, &bytes) || bytes > kMaxBufferBytes))
      return Fail(ErrorCode::kInvalidInput, fmt::format("more than {} GiB", kMaxBufferBytes >> 30));
  }
  return buffer;
}

Result<std::vector<BufferSpec>> TaskBuffers(const Task& task, const Dims& dims) {
  std::vector<BufferSpec> buffers;
  const auto add = [&](const auto& tensor, BufferRole role) -> Status {
    auto buffer = SizedBuffer(tensor.name, role, tensor.dtype, tensor.shape, dims);
    if (!buffer)
      return Wrap(buffer.error(), fmt::format("shape of {} in {}", tensor.name, task.id.value()));
    buffers.push_back(std::move(*buffer));
    return {};
  };
  for (const auto& input : task.inputs) RETURN_IF_ERROR(add(input, BufferRole::kInput));
  for (const auto& output : task.outputs) RETURN_IF_ERROR(add(output, BufferRole::kOutput));
  return buffers;
}

Result<int64_t> IntegerScalarValue(const ScalarSpec& scalar, const Dims& dims) {
  if (!scalar.expression.empty()) return EvaluateExpression(scalar.expression, dims);
  if (std::trunc(scalar.value) != scalar.value || std::fabs(scalar.value) > 9.0e18)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("scalar {} is {}, not a whole number", scalar.name, scalar.value));
  return static_cast<int64_t>(scalar.value);
}

Result<double> ScalarValue(const ScalarSpec& scalar, const Dims& dims) {
  if (scalar.expression.empty()) return scalar.value;
  ASSIGN_OR_RETURN(const int64_t value, EvaluateExpression(scalar.expression, dims));
  return static_cast<double>(value);
}

}  // namespace warpsmith
