#include "worker/oracle/bounds.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/base/random.h"
#include "common/suite/expression.h"
#include "common/suite/task_shapes.h"
#include "worker/oracle/comparator.h"

namespace warpsmith {

Result<Content> ContentOf(const Task& task, const Dims& dims, std::span<const BufferSpec> buffers,
                          size_t input, uint64_t seed, uint32_t case_number) {
  const InputSpec& spec = task.inputs[input];
  Content content{.dtype = spec.dtype,
                  .elements = ElementsOf(buffers[input]),
                  .init = spec.init,
                  .seed = seed,
                  .case_number = case_number,
                  .tensor_number = static_cast<uint32_t>(input)};
  if (!buffers[input].shape.empty()) content.last_dim = buffers[input].shape.back();
  if (spec.init.kind == InitKind::kIndex) {
    ASSIGN_OR_RETURN(content.bound, EvaluateExpression(spec.init.bound, dims));
    if (content.bound <= 0 && content.elements > 0)
      return Fail(ErrorCode::kInvalidInput, "task " + task.id.value() + ": input `" + spec.name +
                                                "`: its bound must be positive");
  }
  return content;
}

DrawnInputs::~DrawnInputs() {
  for (const OracleBuffer& buffer : held_) device_.Release(buffer);
}

Status DrawnInputs::Allocate() {
  for (size_t i = 0; i < task_.inputs.size(); ++i) {
    ASSIGN_OR_RETURN(OracleBuffer buffer, device_.Allocate(BytesOf(buffers_[i]), Access::kReadOnly,
                                                           Placement::kAligned256));
    views_.push_back({buffer.data, buffers_[i].dtype, buffers_[i].shape});
    held_.push_back(buffer);
  }
  return {};
}

Status DrawnInputs::Refill(size_t input, uint64_t seed, uint32_t case_number) {
  ASSIGN_OR_RETURN(const Content content,
                   ContentOf(task_, dims_, buffers_, input, seed, case_number));
  return device_.Fill(held_[input], content);
}

Status DrawnInputs::Fill(uint64_t seed, uint32_t case_number) {
  for (size_t i = 0; i < held_.size(); ++i) RETURN_IF_ERROR(Refill(i, seed, case_number));
  return {};
}

Result<CaseBounds> MeasureBounds(const Task& task, size_t case_index, const Reference& reference,
                                 OracleDevice& device) {
  const Dims& dims = CasesOf(task, device.facts().kind)[case_index].dims;
  ASSIGN_OR_RETURN(const std::vector<BufferSpec> buffers, TaskBuffers(task, dims));
  DrawnInputs inputs(device, task, dims, buffers);
  RETURN_IF_ERROR(inputs.Allocate());
  CaseBounds bounds;
  bounds.errors.resize(task.outputs.size());
  std::vector<double> squares(task.outputs.size(), 0);
  for (uint64_t round = 0; round < kBoundSeeds; ++round) {
    RETURN_IF_ERROR(inputs.Fill(MixSeed({0xB0D5, round}), static_cast<uint32_t>(case_index)));
    RETURN_IF_ERROR(device.Synchronize());
    const auto began = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const Values strict, reference.RunStrict(dims, inputs.views(), buffers));
    RETURN_IF_ERROR(device.Synchronize());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    // The first call also makes the library ready.
    bounds.baseline_us = round == 0 ? took.count() : std::min(bounds.baseline_us, took.count());
    ASSIGN_OR_RETURN(const Values exact, reference.RunExact(dims, inputs.views(), buffers));
    for (size_t i = 0; i < bounds.errors.size(); ++i) {
      ASSIGN_OR_RETURN(const ErrorStats stats, ErrorsOf(strict, exact, i));
      bounds.errors[i].Merge(stats);
      const double rms = RmsOf(exact, i);
      squares[i] += rms * rms / kBoundSeeds;
    }
  }
  for (double square : squares) bounds.expected_rms.push_back(std::sqrt(square));
  return bounds;
}

}  // namespace warpsmith
