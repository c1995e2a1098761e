#include "common/suite/suite_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/suite/plan_file.h"
#include "common/suite/suite_parts.h"
#include "common/suite/text_file.h"

namespace warpsmith {
namespace {

bool IsSlug(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string_view::npos;
}

// A name of letters, digits, _ and -, as suites and tasks have.
std::string ReadSlug(const YamlNode& node, const std::string& name, YamlProblems* problems) {
  if (node.is_scalar() && IsSlug(node.text)) return node.text;
  problems->Add(node, fmt::format("{} is `{}`; write up to 64 letters, digits, _ and -", name,
                                  Shown(node.text)));
  return "";
}

void ReadStarter(const YamlNode& node, const StarterLoader& loader, Task* task,
                 YamlProblems* problems) {
  const auto name = ReadText(node, "starter", problems);
  if (!name) return;
  if (name->empty() || name->starts_with('/') || name->find("..") != std::string::npos) {
    problems->Add(node,
                  fmt::format("starter is `{}`; write a file beside the suite, as softmax_rows.cu",
                              Shown(*name)));
    return;
  }
  auto text = loader(*name);
  if (!text) {
    problems->Add(node, "starter: " + text.error().message);
    return;
  }
  if (const auto plan = ParsePlan(*text); !plan)
    problems->Add(node, fmt::format("starter {}: {}", Shown(*name), plan.error().message));
  task->starter = std::move(*text);
}

std::string ReadReference(const YamlNode* node, const char* name, YamlProblems* problems) {
  if (!node) return "";
  auto text = ReadText(*node, name, problems).value_or("");
  if (text.empty())
    problems->Add(*node,
                  fmt::format("{} is empty; write def reference(x: Tensor) -> Tensor: and its "
                              "body",
                              name));
  return text;
}

Task ReadTask(const YamlNode& node, const std::string& suite, const StarterLoader& loader,
              YamlProblems* problems) {
  Task task;
  const auto* id_node = [&]() -> const YamlNode* {
    for (const auto& [key, value] : node.entries)
      if (key.text == "id") return &value;
    return nullptr;
  }();
  const std::string what =
      id_node && id_node->is_scalar() ? "task " + Shown(id_node->text) : "task";
  const Fields fields(node, what,
                      {"id", "inputs", "scalars", "outputs", "reference", "reference64", "work",
                       "cases", "starter"},
                      problems);
  if (const auto* id = fields.Require("id", "id: softmax_rows"))
    task.id = TaskId(suite + "/" + ReadSlug(*id, "id", problems));
  if (const auto* inputs = fields.Require("inputs", "inputs: {x: {dtype: float32, shape: [n]}}"))
    task.inputs = ReadInputs(*inputs, problems);
  if (const auto* scalars = fields.Find("scalars")) task.scalars = ReadScalars(*scalars, problems);
  if (const auto* outputs =
          fields.Require("outputs", "outputs: {y: {dtype: float32, shape: [n], rtol: 1e-4}}")) {
    task.outputs = ReadOutputs(*outputs, problems);
    if (outputs->is_map() && outputs->entries.empty())
      problems->Add(*outputs, what + " has no output; write at least one");
  }
  task.reference = ReadReference(
      fields.Require("reference", "reference: | and then def reference(x: Tensor) -> Tensor:"),
      "reference", problems);
  task.reference64 = ReadReference(fields.Find("reference64"), "reference64", problems);
  if (const auto* work = fields.Find("work")) task.work = ReadWork(*work, problems);
  if (const auto* cases = fields.Require("cases", "cases: {train: [{n: 1024}]}"))
    ReadCases(*cases, &task, problems);
  if (const auto* starter = fields.Find("starter")) ReadStarter(*starter, loader, &task, problems);
  if (node.is_map()) CheckTask(task, node, problems);
  return task;
}

}  // namespace

Result<Suite> ParseSuite(std::string_view text, std::string_view file,
                         const StarterLoader& loader) {
  YamlProblems problems;
  Suite suite;
  if (const auto root = ParseYaml(text, {kMaxSuiteBytes, 16}, &problems)) {
    const Fields fields(*root, "the suite", {"suite", "tasks"}, &problems);
    if (const auto* name = fields.Require("suite", "suite: starter"))
      suite.name = ReadSlug(*name, "suite", &problems);
    const auto* tasks = fields.Require("tasks", "tasks: and then `- id: ...`");
    if (tasks &&
        (!tasks->is_list() || tasks->items.empty() || tasks->items.size() > kMaxTasksOfSuite))
      problems.Add(*tasks, fmt::format("tasks: write a list of 1 to {} tasks, each beginning with "
                                       "`- id:`",
                                       kMaxTasksOfSuite));
    std::set<TaskId> ids;
    for (size_t i = 0; tasks && i < std::min(tasks->items.size(), kMaxTasksOfSuite); ++i) {
      suite.tasks.push_back(ReadTask(tasks->items[i], suite.name, loader, &problems));
      if (!ids.insert(suite.tasks.back().id).second)
        problems.Add(tasks->items[i], fmt::format("a task {} stands here already; write another id",
                                                  suite.tasks.back().id.value()));
    }
  }
  if (!problems.empty()) return Fail(ErrorCode::kInvalidInput, problems.ToString(file));
  return suite;
}

Result<Suite> LoadSuite(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxSuiteBytes));
  return ParseSuite(text, path.string(), [&](const std::string& name) {
    return ReadTextFile(path.parent_path() / name, kMaxCandidateBytes);
  });
}

}  // namespace warpsmith
