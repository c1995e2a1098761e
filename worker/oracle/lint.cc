#include "worker/oracle/lint.h"

#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/suite/task_shapes.h"
#include "worker/core/verdict.h"
#include "worker/oracle/bounds.h"
#include "worker/oracle/comparator.h"

namespace warpsmith {
namespace {

constexpr uint64_t kLintSeed = 0x117, kOtherSeed = 0x711;

// The smallest timed case; else the largest of the others.
size_t CaseToLint(const Task& task, DeviceKind kind) {
  const auto& cases = task.cases(kind);
  size_t best = 0;
  double best_size = -1;
  bool best_timed = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto buffers = TaskBuffers(task, cases[i].dims);
    if (!buffers) continue;
    double size = 0;
    for (const BufferSpec& buffer : *buffers) size += static_cast<double>(buffer.bytes());
    const bool timed = cases[i].role != CaseRole::kEdge;
    const bool better = timed != best_timed ? timed : timed ? size < best_size : size > best_size;
    if (best_size < 0 || better) {
      best = i;
      best_size = size;
      best_timed = timed;
    }
  }
  return best;
}

struct Linter {
  const Task& task;
  const Case& linted;
  const Values& expected;  // exact, or in the output's own dtype where the rule needs it
  const Values& inputs;
  const CaseBounds& bounds;

  Result<bool> WouldPass(size_t output, const Values& got, size_t got_index) const {
    const OutputSpec& spec = task.outputs[output];
    Comparand c{.spec = &spec,
                .timed_case = linted,
                .rule = MakeRule(spec, bounds.expected_rms[output], bounds.errors[output]),
                .expected = &expected,
                .got = &got,
                .expected_index = output,
                .got_index = got_index};
    for (size_t i = 0; i < task.inputs.size(); ++i)
      if (spec.compare == CompareKind::kIndexByValue && task.inputs[i].name == spec.index_into) {
        c.pointed = &inputs;
        c.pointed_index = i;
      }
    return Passes(c);
  }

  tl::unexpected<Error> Degenerate(size_t output, const std::string& what) const {
    return Fail(ErrorCode::kInvalidInput,
                "task " + task.id.value() + ": " + what + " would pass as output `" +
                    task.outputs[output].name + "`; tighten its tolerance or change its content");
  }

  // What a candidate could know beforehand is what other content gives. Judged in the output's own
  // dtype, as a candidate's would be.
  Status TryConstants(size_t output, const Values& native, const Summary& summary) const {
    const std::pair<const char*, double> guesses[] = {
        {"zeros", 0.0},
        {"the mean everywhere", summary.mean},
        {"one constant everywhere", (summary.least + summary.most) / 2},
    };
    for (const auto& [what, value] : guesses) {
      ASSIGN_OR_RETURN(const bool passes, WouldPass(output, FilledLike(native, output, value), 0));
      if (passes) return Degenerate(output, what);
    }
    return {};
  }

  Status TryInputs(size_t output, const Values& native) const {
    for (size_t i = 0; i < task.inputs.size(); ++i) {
      const Values copy = ReshapedLike(inputs, i, native, output);
      if (copy.empty()) continue;
      ASSIGN_OR_RETURN(const bool passes, WouldPass(output, copy, 0));
      if (passes) return Degenerate(output, "a copy of input `" + task.inputs[i].name + "`");
    }
    return {};
  }
};

bool ComparesNative(const OutputSpec& output) {
  return output.compare == CompareKind::kExact || output.compare == CompareKind::kIndexByValue;
}

}  // namespace

Status LintTask(const Task& task, const Reference& reference, OracleDevice& device) {
  const DeviceKind kind = device.facts().kind;
  if (task.cases(kind).empty())
    return Fail(ErrorCode::kInvalidInput, "task " + task.id.value() + ": has no case for device " +
                                              ToString(kind) + "; add one under `cases`");
  const size_t index = CaseToLint(task, kind);
  const Case& linted = task.cases(kind)[index];
  ASSIGN_OR_RETURN(const std::vector<BufferSpec> buffers, TaskBuffers(task, linted.dims));
  ASSIGN_OR_RETURN(const CaseBounds bounds, MeasureBounds(task, index, reference, device));
  DrawnInputs drawn(device, task, linted.dims, buffers);
  RETURN_IF_ERROR(drawn.Allocate());
  const auto number = static_cast<uint32_t>(index);
  RETURN_IF_ERROR(drawn.Fill(kOtherSeed, number));
  RETURN_IF_ERROR(device.Synchronize());
  ASSIGN_OR_RETURN(const Values before, reference.Run(linted.dims, drawn.views(), buffers));
  RETURN_IF_ERROR(drawn.Fill(kLintSeed, number));
  RETURN_IF_ERROR(device.Synchronize());
  ASSIGN_OR_RETURN(const Values exact, reference.RunExact(linted.dims, drawn.views(), buffers));
  ASSIGN_OR_RETURN(const Values native, reference.Run(linted.dims, drawn.views(), buffers));
  const Values inputs = ViewOf(drawn.views(), kind, device.facts().index);
  for (size_t output = 0; output < task.outputs.size(); ++output) {
    if (buffers[task.inputs.size() + output].elements() == 0) continue;
    const Values& expected = ComparesNative(task.outputs[output]) ? native : exact;
    const Linter linter{task, linted, expected, inputs, bounds};
    RETURN_IF_ERROR(linter.TryConstants(output, native, SummaryOf(before, output)));
    RETURN_IF_ERROR(linter.TryInputs(output, native));
  }
  // Each input must matter to some output.
  for (size_t input = 0; input < task.inputs.size(); ++input) {
    if (buffers[input].elements() == 0 || task.inputs[input].init.kind == InitKind::kConstant)
      continue;
    RETURN_IF_ERROR(drawn.Refill(input, kLintSeed + 1 + input, number));
    RETURN_IF_ERROR(device.Synchronize());
    ASSIGN_OR_RETURN(const Values other, reference.Run(linted.dims, drawn.views(), buffers));
    RETURN_IF_ERROR(drawn.Refill(input, kLintSeed, number));
    bool matters = false;
    for (size_t output = 0; output < task.outputs.size() && !matters; ++output) {
      const Values& expected = ComparesNative(task.outputs[output]) ? native : exact;
      const Linter linter{task, linted, expected, inputs, bounds};
      RETURN_IF_ERROR(device.Synchronize());
      ASSIGN_OR_RETURN(const bool passes, linter.WouldPass(output, other, output));
      matters = !passes;
    }
    if (!matters)
      return Fail(ErrorCode::kInvalidInput, "task " + task.id.value() +
                                                ": the outputs do not depend on input `" +
                                                task.inputs[input].name + "`; drop it or use it");
  }
  return {};
}

}  // namespace warpsmith
