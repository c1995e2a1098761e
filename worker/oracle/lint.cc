#include "worker/oracle/lint.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "common/suite/task_shapes.h"
#include "worker/judgement/verdict.h"
#include "worker/oracle/bounds.h"
#include "worker/oracle/comparator.h"

namespace warpsmith {
namespace {

constexpr uint64_t kLintSeed = 0x117, kOtherSeed = 0x711;
constexpr uint64_t kContents = 3;

// The smallest timed case; else the largest of the others.
size_t CaseToLint(const Task& task, DeviceKind kind) {
  const auto& cases = CasesOf(task, kind);
  size_t best = 0;
  double best_size = -1;
  bool best_timed = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto buffers = TaskBuffers(task, cases[i].dims);
    if (!buffers) continue;
    double size = 0;
    for (const BufferSpec& buffer : *buffers) size += static_cast<double>(BytesOf(buffer));
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
  OracleDevice& device;

  Result<bool> WouldPass(size_t output, const Values& got, size_t got_index) const {
    const OutputSpec& spec = task.outputs[output];
    Comparand c{.spec = &spec,
                .timed_case = linted,
                .rule = MakeRule(spec, bounds.expected_rms[output], bounds.errors[output]),
                .expected = &expected,
                .got = &got,
                .expected_index = output,
                .got_index = got_index,
                .device = &device};
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

  // Which guesses would pass, judged in the output's own dtype, as a candidate's would be.
  Result<std::vector<bool>> TryConstants(size_t output, const Values& native,
                                         std::span<const double> guesses) const {
    std::vector<bool> pass;
    for (double guess : guesses) {
      ASSIGN_OR_RETURN(const bool passes, WouldPass(output, FilledLike(native, output, guess), 0));
      pass.push_back(passes);
    }
    return pass;
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

// A linted case with one content after the other.
struct Trial {
  const Task& task;
  const Reference& reference;
  OracleDevice& device;
  const Case& linted;
  uint32_t number;
  std::vector<BufferSpec> buffers;
  CaseBounds bounds;
  DrawnInputs drawn;
  Values exact, native, inputs;

  Status Draw(uint64_t seed) {
    RETURN_IF_ERROR(drawn.Fill(seed, number));
    RETURN_IF_ERROR(device.Synchronize());
    ASSIGN_OR_RETURN(exact, reference.RunExact(linted.dims, drawn.views(), buffers));
    ASSIGN_OR_RETURN(native, reference.Run(linted.dims, drawn.views(), buffers));
    inputs = ViewOf(drawn.views(), device.facts().kind, device.facts().index);
    return {};
  }
  Linter For(size_t output) const {
    return {task,   linted, ComparesNative(task.outputs[output]) ? native : exact,
            inputs, bounds, device};
  }
  bool HasElements(size_t output) const {
    return ElementsOf(buffers[task.inputs.size() + output]) > 0;
  }

  // What a candidate could know beforehand is what other content gives; luck with one content is no
  // way to pass, so a guess must be right for each of several.
  Status RefuseConstants() {
    static constexpr const char* kGuesses[] = {"zeros", "the mean everywhere",
                                               "one constant everywhere"};
    RETURN_IF_ERROR(Draw(kOtherSeed));
    std::vector<std::vector<double>> guesses;
    for (size_t output = 0; output < task.outputs.size(); ++output) {
      const Summary summary = SummaryOf(native, output);
      guesses.push_back({0.0, summary.mean, (summary.least + summary.most) / 2});
    }
    std::vector<std::vector<bool>> still(task.outputs.size(), std::vector<bool>(3, true));
    for (uint64_t content = 0; content < kContents; ++content) {
      RETURN_IF_ERROR(Draw(kLintSeed + content));
      for (size_t output = 0; output < task.outputs.size(); ++output) {
        if (!HasElements(output)) continue;
        ASSIGN_OR_RETURN(const std::vector<bool> pass,
                         For(output).TryConstants(output, native, guesses[output]));
        for (size_t i = 0; i < pass.size(); ++i) still[output][i] = still[output][i] && pass[i];
      }
    }
    for (size_t output = 0; output < task.outputs.size(); ++output)
      for (size_t i = 0; i < still[output].size(); ++i)
        if (HasElements(output) && still[output][i])
          return For(output).Degenerate(output, kGuesses[i]);
    return {};
  }

  Status RefuseCopies() {
    RETURN_IF_ERROR(Draw(kLintSeed));
    for (size_t output = 0; output < task.outputs.size(); ++output)
      if (HasElements(output)) RETURN_IF_ERROR(For(output).TryInputs(output, native));
    return {};
  }

  // Each input must matter to some output.
  Status RefuseIgnoredInputs() {
    for (size_t input = 0; input < task.inputs.size(); ++input) {
      if (ElementsOf(buffers[input]) == 0 || task.inputs[input].init.kind == InitKind::kConstant)
        continue;
      RETURN_IF_ERROR(drawn.Refill(input, kLintSeed + kContents + input, number));
      RETURN_IF_ERROR(device.Synchronize());
      ASSIGN_OR_RETURN(const Values other, reference.Run(linted.dims, drawn.views(), buffers));
      RETURN_IF_ERROR(drawn.Refill(input, kLintSeed, number));
      RETURN_IF_ERROR(device.Synchronize());
      bool matters = false;
      for (size_t output = 0; output < task.outputs.size() && !matters; ++output) {
        ASSIGN_OR_RETURN(const bool passes, For(output).WouldPass(output, other, output));
        matters = !passes;
      }
      if (!matters)
        return Fail(ErrorCode::kInvalidInput, "task " + task.id.value() +
                                                  ": the outputs do not depend on input `" +
                                                  task.inputs[input].name + "`; drop it or use it");
    }
    return {};
  }
};

}  // namespace

Status LintTask(const Task& task, const Reference& reference, OracleDevice& device) {
  const DeviceKind kind = device.facts().kind;
  if (CasesOf(task, kind).empty())
    return Fail(ErrorCode::kInvalidInput, "task " + task.id.value() + ": has no case for device " +
                                              ToString(kind) + "; add one under `cases`");
  const size_t index = CaseToLint(task, kind);
  const Case& linted = CasesOf(task, kind)[index];
  ASSIGN_OR_RETURN(const std::vector<BufferSpec> buffers, TaskBuffers(task, linted.dims));
  ASSIGN_OR_RETURN(CaseBounds bounds, MeasureBounds(task, index, reference, device));
  Trial trial{task,
              reference,
              device,
              linted,
              static_cast<uint32_t>(index),
              buffers,
              std::move(bounds),
              {device, task, linted.dims, buffers},
              {},
              {},
              {}};
  RETURN_IF_ERROR(trial.drawn.Allocate());
  RETURN_IF_ERROR(trial.RefuseConstants());
  RETURN_IF_ERROR(trial.RefuseCopies());
  return trial.RefuseIgnoredInputs();
}

}  // namespace warpsmith
