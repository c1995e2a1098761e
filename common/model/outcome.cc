#include "common/model/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpsmith {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string FirstLine(const std::string& text) {
  const auto end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end);
}

std::string DescribeWrong(const WrongOutputReport& report) {
  std::string text = fmt::format("{} of {} elements of {} are wrong ({})", report.wrong_elements,
                                 report.elements, report.output, report.reason);
  if (!report.first_index.empty() || report.elements == 1)
    text += fmt::format("; first at [{}]: expected {:.7g}, got {:.7g}",
                        fmt::join(report.first_index, ", "), report.expected, report.got);
  if (!report.pattern.empty()) text += "; " + report.pattern;
  return text;
}

}  // namespace

const char* OutcomeName(const Outcome& outcome) {
  return UnionOf<Outcome>::kNames[outcome.index()];
}

std::string OutcomeLabel(const Outcome& outcome) {
  const std::string name = OutcomeName(outcome);
  return std::visit(
      Overloaded{
          [&](const LaunchError& o) { return name + "(" + o.code + ")"; },
          [&](const Timeout& o) { return name + "(" + ToString(o.stage) + ")"; },
          [&](const DeviceFault& o) { return name + "(" + FirstLine(o.code) + ")"; },
          [&](const Violation& o) { return name + "(" + ToString(o.kind) + ")"; },
          [&](const Infrastructure& o) { return name + "(" + ToString(o.kind) + ")"; },
          [&](const auto&) { return name; },
      },
      outcome);
}

std::string Describe(const Outcome& outcome) {
  const std::string label = OutcomeLabel(outcome);
  return std::visit(
      Overloaded{
          [&](const Rejected& o) { return label + ": " + o.why; },
          [&](const CompileError& o) { return label + ": " + FirstLine(o.log); },
          [&](const ResourceError& o) { return label + ": " + o.limit; },
          [&](const WrongOutput& o) { return label + ": " + DescribeWrong(o.report); },
          [&](const Nondeterministic& o) {
            return label + ": two runs on the same inputs disagree in " + o.output;
          },
          [&](const Violation& o) { return label + ": " + o.detail; },
          [&](const Infrastructure& o) { return label + ": " + o.detail; },
          [&](const Correct& o) {
            return o.speedup > 0 ? fmt::format("correct: {:.3f}x the baseline's speed", o.speedup)
                                 : label;
          },
          [&](const auto&) { return label; },
      },
      outcome);
}

double SpeedupOf(const Outcome& outcome) {
  const auto* correct = std::get_if<Correct>(&outcome);
  return correct ? correct->speedup : 0;
}

}  // namespace warpsmith
