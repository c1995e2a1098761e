#include "worker/oracle/case_judge.h"

#include <utility>

#include "worker/oracle/comparator.h"
#include "worker/oracle/lint.h"

namespace warpsmith {
namespace {

bool ComparesNative(const OutputSpec& output) {
  return output.compare == CompareKind::kExact || output.compare == CompareKind::kIndexByValue;
}

}  // namespace

Outcome InfrastructureFrom(const Error& error) {
  InfrastructureKind kind = InfrastructureKind::kInternal;
  switch (error.code) {
    case ErrorCode::kExhausted: kind = InfrastructureKind::kOutOfMemory; break;
    case ErrorCode::kMissing: kind = InfrastructureKind::kDeviceLost; break;
    case ErrorCode::kUnavailable: kind = InfrastructureKind::kDriver; break;
    default: break;
  }
  return Infrastructure{kind, error.message};
}

CaseJudge::CaseJudge(const Task& task, const Case& judged, const CaseBounds& bounds)
    : task_(task), case_(judged) {
  for (size_t i = 0; i < task.outputs.size(); ++i) {
    exact_rules_.push_back(MakeRule(task.outputs[i], bounds.expected_rms[i], bounds.errors[i]));
    paired_rules_.push_back(warpsmith::AgainstBaseline(exact_rules_[i], bounds.errors[i]));
  }
}

bool CaseJudge::needs_native() const {
  for (const OutputSpec& output : task_.outputs)
    if (ComparesNative(output)) return true;
  return false;
}

Ending CaseJudge::Against(BufferSet& set, size_t output, const Values& expected,
                          const ElementRule& rule) const {
  Comparand c{.spec = &task_.outputs[output],
              .timed_case = case_,
              .rule = rule,
              .expected = &expected,
              .got = &set.outputs(),
              .expected_index = output,
              .got_index = output,
              .device = &set.device()};
  if (rule.kind == CompareKind::kIndexByValue) {
    c.pointed = &set.inputs();
    for (size_t i = 0; i < task_.inputs.size(); ++i)
      if (task_.inputs[i].name == task_.outputs[output].index_into) c.pointed_index = i;
  }
  const auto passes = Passes(c);
  if (!passes) return InfrastructureFrom(passes.error());
  if (*passes) return std::nullopt;
  // Keep what was got, make the buffer poison again, and see which elements never changed.
  const Values got = CloneOf(set.outputs(), output);
  if (auto done = set.PoisonOutput(output); !done) return InfrastructureFrom(done.error());
  const Values poison = CloneOf(set.outputs(), output);
  c.got = &got;
  c.got_index = 0;
  c.poison = &poison;
  auto report = Report(c);
  if (!report) return InfrastructureFrom(report.error());
  if (!*report)
    return Infrastructure{InfrastructureKind::kInternal,
                          "quick and slow comparison disagree on output " + c.spec->name};
  return WrongOutput{std::move(**report)};
}

Ending CaseJudge::AgainstExact(BufferSet& set, const Values& exact, const Values& native) const {
  for (size_t i = 0; i < task_.outputs.size(); ++i) {
    const Values& expected = ComparesNative(task_.outputs[i]) ? native : exact;
    if (auto ending = Against(set, i, expected, exact_rules_[i])) return ending;
  }
  return std::nullopt;
}

Ending CaseJudge::AgainstBaseline(BufferSet& set, const Values& baseline) const {
  for (size_t i = 0; i < task_.outputs.size(); ++i)
    if (auto ending = Against(set, i, baseline, paired_rules_[i])) return ending;
  return std::nullopt;
}

Result<std::unique_ptr<KnownTask>> KnownTask::Make(const Task& task, OracleDevice& device) {
  ASSIGN_OR_RETURN(Reference reference,
                   Reference::Compile(task, device.facts().kind, device.facts().index));
  RETURN_IF_ERROR(LintTask(task, reference, device));
  return std::unique_ptr<KnownTask>(new KnownTask(task, std::move(reference)));
}

Result<const CaseBounds*> KnownTask::Bounds(size_t case_index, OracleDevice& device) {
  const auto known = bounds_.find(case_index);
  if (known != bounds_.end()) return &known->second;
  ASSIGN_OR_RETURN(CaseBounds bounds, MeasureBounds(task_, case_index, reference_, device));
  return &bounds_.emplace(case_index, std::move(bounds)).first->second;
}

}  // namespace warpsmith
