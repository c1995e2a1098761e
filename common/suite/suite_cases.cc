// Cases of a task, and what can be checked only with all of its parts at hand.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/suite/expression.h"
#include "common/suite/reference_text.h"
#include "common/suite/scalar_bits.h"
#include "common/suite/suite_file.h"
#include "common/suite/suite_parts.h"
#include "common/suite/task_shapes.h"

namespace warpsmith {
namespace {

Dims ReadDims(const YamlNode& node, const std::string& what, YamlProblems* problems) {
  Dims dims;
  if (!node.is_map() || node.entries.empty()) {
    problems->Add(node, what + ": write a map of dims, as {rows: 64, cols: 512}");
    return dims;
  }
  for (const auto& [key, value] : node.entries) {
    if (!IsIdentifier(key.text) || IsReservedName(key.text))
      problems->Add(
          key, fmt::format("{}: `{}` cannot be a dim; write another name", what, Shown(key.text)));
    else if (const auto size = ReadInteger(value, what + ": " + key.text, 0, kMaxDim, problems))
      dims[key.text] = *size;
  }
  return dims;
}

std::vector<Case> ReadRoles(const YamlNode& node, const std::string& what, YamlProblems* problems) {
  std::vector<Case> cases;
  const Fields fields(node, what, {"train", "holdout", "edge"}, problems);
  for (const auto role : {CaseRole::kTrain, CaseRole::kHoldout, CaseRole::kEdge}) {
    const auto* list = fields.Find(ToString(role));
    if (!list) continue;
    const std::string part = fmt::format("{}: {}", what, ToString(role));
    if (!list->is_list() || list->items.size() > kMaxCasesOfRole) {
      problems->Add(*list, fmt::format("{}: write a list of at most {} cases, as [{{rows: 64}}]",
                                       part, kMaxCasesOfRole));
      continue;
    }
    std::set<Dims> seen;
    for (const auto& item : list->items) {
      const auto dims = ReadDims(item, part, problems);
      if (!dims.empty() && !seen.insert(dims).second)
        problems->Add(item, part + ": this case stands here twice; keep one");
      cases.push_back({role, dims});
    }
  }
  const bool train = std::any_of(cases.begin(), cases.end(),
                                 [](const Case& c) { return c.role == CaseRole::kTrain; });
  if (!train && node.is_map())
    problems->Add(node, what + " has no train case; write train: [{rows: 64, cols: 512}]");
  return cases;
}

class TaskCheck {
 public:
  TaskCheck(const Task& task, const YamlNode& node, YamlProblems* problems)
      : task_(task), node_(node), problems_(problems) {}

  void Run() {
    Dims first;
    for (const auto* cases : {&task_.cuda_cases, &task_.host_cases})
      for (const auto& c : *cases)
        if (first.empty()) first = c.dims;
    if (first.empty()) return;  // reported where the cases were read
    Names(first);
    Reference("reference", task_.reference, first);
    if (!task_.reference64.empty()) Reference("reference64", task_.reference64, first);
    for (const auto& output : task_.outputs) {
      if (output.index_into.empty()) continue;
      const bool known =
          std::any_of(task_.inputs.begin(), task_.inputs.end(),
                      [&](const auto& input) { return input.name == output.index_into; });
      if (!known)
        At("outputs", fmt::format("output {}: index_into names no input `{}`", output.name,
                                  output.index_into));
    }
    Cases(first, "gpu", task_.cuda_cases);
    if (task_.host_cases != task_.cuda_cases) Cases(first, "host", task_.host_cases);
  }

 private:
  // At the task's field where there is one.
  void At(std::string_view field, std::string text) {
    for (const auto& [key, value] : node_.entries)
      if (key.text == field) return problems_->Add(key, std::move(text));
    problems_->Add(node_, std::move(text));
  }

  void Names(const Dims& dims) {
    std::set<std::string> taken;
    for (const auto& [name, size] : dims) taken.insert(name);
    const auto claim = [&](const std::string& name, const char* field) {
      if (!taken.insert(name).second)
        At(field,
           fmt::format("{}: `{}` is also the name of something else in this task; rename one",
                       field, name));
    };
    for (const auto& input : task_.inputs) claim(input.name, "inputs");
    for (const auto& scalar : task_.scalars) claim(scalar.name, "scalars");
    for (const auto& output : task_.outputs) claim(output.name, "outputs");
  }

  void Reference(const char* field, const std::string& text, const Dims& dims) {
    if (text.empty()) return;  // reported as missing
    const auto parameters = ReferenceParameters(text);
    if (!parameters) return At(field, fmt::format("{}: {}", field, parameters.error().message));
    std::set<std::string> known;
    for (const auto& [name, size] : dims) known.insert(name);
    for (const auto& input : task_.inputs) known.insert(input.name);
    for (const auto& scalar : task_.scalars) known.insert(scalar.name);
    std::set<std::string> seen;
    for (const auto& name : *parameters) {
      if (!seen.insert(name).second)
        At(field, fmt::format("{}: parameter `{}` stands here twice", field, name));
      else if (!known.contains(name))
        At(field,
           fmt::format("{}: parameter `{}` is no input, scalar or dim of this task", field, name));
    }
    for (const auto& input : task_.inputs)
      if (!seen.contains(input.name))
        At(field,
           fmt::format("{}: input `{}` is no parameter; use it, or remove it", field, input.name));
  }

  void Cases(const Dims& first, const char* kind, const std::vector<Case>& cases) {
    for (const auto& c : cases) {
      const bool same = std::equal(c.dims.begin(), c.dims.end(), first.begin(), first.end(),
                                   [](const auto& a, const auto& b) { return a.first == b.first; });
      if (!same) {
        At("cases", fmt::format("cases: every case must give the same dims; a {} {} case does not",
                                kind, ToString(c.role)));
        return;
      }
      if (const auto problem = Evaluates(c.dims)) {
        std::string dims;
        for (const auto& [name, size] : c.dims)
          dims += fmt::format("{}{}: {}", dims.empty() ? "" : ", ", name, size);
        At("cases", fmt::format("cases: with {{{}}}: {}", dims, *problem));
        return;  // the others fail likewise
      }
    }
  }

  // The first expression of the task that fails for these dims.
  std::optional<std::string> Evaluates(const Dims& dims) const {
    const auto buffers = TaskBuffers(task_, dims);
    if (!buffers) return buffers.error().message;
    for (const auto& scalar : task_.scalars) {
      if (scalar.expression.empty()) continue;  // checked where it was read
      const auto value = EvaluateExpression(scalar.expression, dims);
      if (!value) return fmt::format("scalar {}: {}", scalar.name, value.error().message);
      const auto bits = IsFloating(scalar.dtype)
                            ? RealBits(static_cast<double>(*value), ParameterTypeOf(scalar.dtype))
                            : IntegerBits(*value, ParameterTypeOf(scalar.dtype));
      if (!bits) return fmt::format("scalar {}: {}", scalar.name, bits.error().message);
    }
    for (const auto& input : task_.inputs)
      if (auto problem = Draws(input, dims)) return problem;
    for (const auto* text : {&task_.work.flops, &task_.work.read_bytes, &task_.work.write_bytes}) {
      if (text->empty()) continue;
      const auto value = EvaluateExpression(*text, dims);
      if (!value) return "work: " + value.error().message;
      if (*value < 0) return fmt::format("work: `{}` is {}, below zero", *text, *value);
    }
    return std::nullopt;
  }

  // Why this input's content cannot be drawn.
  static std::optional<std::string> Draws(const InputSpec& input, const Dims& dims) {
    const auto shape = EvaluateShape(input.shape, dims);
    const bool empty = !shape || std::find(shape->begin(), shape->end(), 0) != shape->end();
    if (input.init.kind == InitKind::kOneHot && !empty && !shape->empty() &&
        shape->back() > kMaxDrawn)
      return fmt::format("input {}: one_hot over a dimension of {}; at most 2^32", input.name,
                         shape->back());
    if (input.init.kind != InitKind::kIndex || input.init.bound.empty()) return std::nullopt;
    const auto bound = EvaluateExpression(input.init.bound, dims);
    if (!bound) return fmt::format("input {}: bound: {}", input.name, bound.error().message);
    if (*bound < 1 && !empty)
      return fmt::format("input {}: bound is {}; an index needs at least 1", input.name, *bound);
    if (*bound > kMaxDrawn)
      return fmt::format("input {}: bound is {}; at most 2^32", input.name, *bound);
    const auto last = IntegerBits(*bound - 1, ParameterTypeOf(input.dtype));
    if (!last && !empty) return fmt::format("input {}: index {}", input.name, last.error().message);
    return std::nullopt;
  }

  const Task& task_;
  const YamlNode& node_;
  YamlProblems* problems_;
};

}  // namespace

void ReadCases(const YamlNode& node, Task* task, YamlProblems* problems) {
  const bool split =
      node.is_map() && std::any_of(node.entries.begin(), node.entries.end(), [](const auto& entry) {
        return entry.first.text == "gpu" || entry.first.text == "host";
      });
  if (!split) {
    task->cuda_cases = ReadRoles(node, "cases", problems);
    task->host_cases = task->cuda_cases;
    return;
  }
  const Fields fields(node, "cases", {"gpu", "host"}, problems);
  if (const auto* gpu = fields.Find("gpu"))
    task->cuda_cases = ReadRoles(*gpu, "gpu cases", problems);
  if (const auto* host = fields.Find("host"))
    task->host_cases = ReadRoles(*host, "host cases", problems);
  if (!fields.Find("gpu") && !fields.Find("host"))
    problems->Add(node, "cases has no case; write host: {train: [{rows: 64, cols: 512}]}");
}

void CheckTask(const Task& task, const YamlNode& node, YamlProblems* problems) {
  TaskCheck(task, node, problems).Run();
}

}  // namespace warpsmith
