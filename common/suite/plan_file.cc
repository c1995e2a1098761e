#include "common/suite/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/suite/expression.h"
#include "common/suite/yaml_fields.h"

namespace warpsmith {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kMarker = "warpsmith";

// Just past the end of a literal that begins at `at` with its quote.
size_t SkipLiteral(std::string_view text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

struct PlanText {
  std::string_view yaml;
  int line = 1;  // of the candidate, where the YAML begins
};

// What stands in the first block comment after the word `warpsmith`.
Result<PlanText> FindPlan(std::string_view text) {
  constexpr std::string_view kAdvice =
      "begin the text with a comment `/* warpsmith` that holds `launches:` in YAML and ends with "
      "`*/`";
  size_t at = 0;
  while (at < text.size() && !text.substr(at).starts_with("/*")) {
    if (text.substr(at).starts_with("//"))
      at = std::min(text.find('\n', at), text.size());
    else if (text[at] == '"' || text[at] == '\'')
      at = SkipLiteral(text, at);
    else
      ++at;
  }
  if (at >= text.size())
    return Fail(ErrorCode::kInvalidInput, fmt::format("no launch plan: {}", kAdvice));
  const size_t end = text.find("*/", at + 2);
  if (end == std::string_view::npos)
    return Fail(ErrorCode::kInvalidInput,
                "the first block comment never ends: write `*/` after it");
  auto body = text.substr(at + 2, end - at - 2);
  const size_t word = body.find_first_not_of(" \t\r\n*");
  if (word == std::string_view::npos || !body.substr(word).starts_with(kMarker))
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("the first block comment is not the launch plan: {}", kAdvice));
  const size_t begin = at + 2 + word + kMarker.size();
  return PlanText{text.substr(begin, end - begin),
                  1 + static_cast<int>(std::count(text.begin(), text.begin() + begin, '\n'))};
}

void ReadLet(const YamlNode& node, Plan* plan, YamlProblems* problems) {
  if (!node.is_map()) {
    problems->Add(node, "let: write a map of names to expressions, as rows_per_block: 4");
    return;
  }
  if (node.entries.size() > kMaxPlanLets)
    problems->Add(node, fmt::format("let: {} names; at most {} are allowed", node.entries.size(),
                                    kMaxPlanLets));
  for (const auto& [key, value] : node.entries) {
    if (!IsIdentifier(key.text) || IsReservedName(key.text)) {
      problems->Add(key,
                    fmt::format("let: `{}` cannot be a name here; write another", Shown(key.text)));
      continue;
    }
    auto expression = ReadExpression(value, "let: " + key.text, problems);
    if (expression) plan->let.emplace_back(key.text, std::move(*expression));
  }
}

// One to three expressions.
std::vector<std::string> ReadSize(const YamlNode* node, const std::string& name,
                                  YamlProblems* problems) {
  if (!node) return {};
  auto parts = ReadExpressions(*node, name, problems);
  if (!parts) return {};
  if (parts->empty() || parts->size() > 3) {
    problems->Add(*node, fmt::format("{}: {} sizes; write one to three", name, parts->size()));
    return {};
  }
  return std::move(*parts);
}

LaunchSpec ReadLaunch(const YamlNode& node, size_t number, YamlProblems* problems) {
  LaunchSpec launch;
  std::string what = fmt::format("launch {}", number);
  const Fields fields(node, what, {"kernel", "grid", "block", "shared", "cluster", "args"},
                      problems);
  if (const auto* kernel = fields.Require("kernel", "kernel: name_of_a_global_function")) {
    launch.kernel = ReadText(*kernel, what + ": kernel", problems).value_or("");
    if (const auto status = CheckKernelName(launch.kernel); kernel->is_scalar() && !status)
      problems->Add(*kernel,
                    fmt::format("{}: kernel: not a name expression: {}; write a plain name "
                                "or a template like scale<4>",
                                what, status.error().message));
    else
      what += fmt::format(" ({})", launch.kernel);
  }
  launch.grid =
      ReadSize(fields.Require("grid", "grid: ceil_div(n, 256)"), what + ": grid", problems);
  launch.block = ReadSize(fields.Require("block", "block: 256"), what + ": block", problems);
  launch.cluster = ReadSize(fields.Find("cluster"), what + ": cluster", problems);
  if (const auto* shared = fields.Find("shared"))
    launch.shared = ReadExpression(*shared, what + ": shared", problems).value_or("0");
  if (const auto* args = fields.Require("args", "args: x, y, n")) {
    launch.args = ReadExpressions(*args, what + ": args", problems).value_or(launch.args);
    if (launch.args.size() > kMaxArguments)
      problems->Add(*args, fmt::format("{}: args: {} arguments; at most {} are allowed", what,
                                       launch.args.size(), kMaxArguments));
  }
  return launch;
}

void ReadLaunches(const YamlNode& node, Plan* plan, YamlProblems* problems) {
  if (!node.is_list() || node.items.empty()) {
    problems->Add(node,
                  "launches: write a list with at least one launch, each beginning with "
                  "`- kernel:`");
    return;
  }
  if (node.items.size() > kMaxLaunches) {
    problems->Add(node, fmt::format("launches: {} launches; at most {} are allowed",
                                    node.items.size(), kMaxLaunches));
    return;
  }
  for (const auto& item : node.items)
    plan->launches.push_back(ReadLaunch(item, plan->launches.size() + 1, problems));
}

void ReadTemps(const YamlNode& node, Plan* plan, YamlProblems* problems) {
  if (!node.is_map() || node.entries.size() > kMaxPlanTemps) {
    problems->Add(node,
                  fmt::format("temps: write a map of at most {} buffers, as partial: {{dtype: "
                              "float32, shape: rows}}",
                              kMaxPlanTemps));
    return;
  }
  for (const auto& [key, value] : node.entries) {
    const std::string what = "temp " + Shown(key.text);
    if (!IsIdentifier(key.text) || IsReservedName(key.text)) {
      problems->Add(key,
                    fmt::format("temps: `{}` cannot be a name; write another", Shown(key.text)));
      continue;
    }
    TempSpec temp{.name = key.text};
    const Fields fields(value, what, {"dtype", "shape"}, problems);
    if (const auto* dtype = fields.Require("dtype", "dtype: float32")) {
      const auto parsed = dtype->is_scalar() ? ParseWord<Dtype>(dtype->text) : std::nullopt;
      if (!parsed)
        problems->Add(*dtype, fmt::format("{}: dtype: `{}` is none; write float32, bfloat16, int32 "
                                          "or another",
                                          what, Shown(dtype->text)));
      temp.dtype = parsed.value_or(Dtype::kFloat32);
    }
    if (const auto* shape = fields.Require("shape", "shape: rows")) {
      temp.shape = ReadExpressions(*shape, what + ": shape", problems).value_or(temp.shape);
      if (temp.shape.size() > kMaxPlanRank)
        problems->Add(*shape, fmt::format("{}: shape of {} dimensions; at most {} are allowed",
                                          what, temp.shape.size(), kMaxPlanRank));
    }
    plan->temps.push_back(std::move(temp));
  }
}

void ReadZero(const YamlNode& node, Plan* plan, YamlProblems* problems) {
  plan->zero = ReadList(node, "zero", problems).value_or(plan->zero);
  if (plan->zero.size() > kMaxArguments)
    problems->Add(node, fmt::format("zero: {} names; at most {} are allowed", plan->zero.size(),
                                    kMaxArguments));
  std::set<std::string> seen;
  for (const auto& name : plan->zero) {
    if (!IsIdentifier(name) || IsReservedName(name))
      problems->Add(node, "zero: write names of outputs or temps, as [y, partial]");
    else if (!seen.insert(name).second)
      problems->Add(node, fmt::format("zero: `{}` stands here twice; keep one", name));
  }
}

std::string Describe(const YamlProblems& problems, int first_line) {
  std::string text;
  for (const auto& p : problems.list())
    text += fmt::format("{}line {}: {}", text.empty() ? "" : "\n", p.place.line + first_line - 1,
                        p.text);
  return text;
}

}  // namespace

Result<std::string> AdmitCandidate(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.size() > kMaxCandidateBytes)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("the text has {} bytes; at most {} are allowed", text.size(),
                            kMaxCandidateBytes));
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Fail(ErrorCode::kInvalidInput, "the text is empty: write kernels and their launch plan");
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("line {}: a NUL byte; remove it",
                            1 + std::count(text.begin(), text.begin() + nul, '\n')));
  return std::string(text);
}

Result<Plan> ParsePlan(std::string_view candidate_text) {
  ASSIGN_OR_RETURN(const std::string text, AdmitCandidate(candidate_text));
  ASSIGN_OR_RETURN(const PlanText found, FindPlan(text));
  YamlProblems problems;
  const auto root =
      ParseYaml(found.yaml, {kMaxPlanBytes, static_cast<int>(kMaxPlanDepth)}, &problems);
  if (!root) return Fail(ErrorCode::kInvalidInput, Describe(problems, found.line));

  Plan plan;
  const Fields fields(*root, "the launch plan", {"let", "launches", "temps", "zero"}, &problems);
  if (const auto* let = fields.Find("let")) ReadLet(*let, &plan, &problems);
  if (const auto* launches = fields.Require("launches", "launches: and then `- kernel: ...`"))
    ReadLaunches(*launches, &plan, &problems);
  if (const auto* temps = fields.Find("temps")) ReadTemps(*temps, &plan, &problems);
  if (const auto* zero = fields.Find("zero")) ReadZero(*zero, &plan, &problems);
  if (!problems.empty()) return Fail(ErrorCode::kInvalidInput, Describe(problems, found.line));
  return plan;
}

Result<AdmittedCandidate> AdmitWithPlan(std::string_view text) {
  ASSIGN_OR_RETURN(std::string admitted, AdmitCandidate(text));
  ASSIGN_OR_RETURN(Plan plan, ParsePlan(admitted));
  return AdmittedCandidate{std::move(admitted), std::move(plan)};
}

std::vector<std::string> KernelNames(const Plan& plan) {
  std::vector<std::string> names;
  for (const LaunchSpec& launch : plan.launches)
    if (std::find(names.begin(), names.end(), launch.kernel) == names.end())
      names.push_back(launch.kernel);
  return names;
}

}  // namespace warpsmith
