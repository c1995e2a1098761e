#include "common/suite/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>

#include "common/model/device_kind.h"
#include "common/model/run_check.h"
#include "common/suite/suite_file.h"
#include "common/suite/text_file.h"
#include "common/suite/yaml_fields.h"

namespace warpsmith {
namespace {

std::vector<std::string_view> Words(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

void ReadAlgorithm(const YamlNode& node, Algorithm* algorithm, YamlProblems* problems) {
  const Fields fields(
      node, "algorithm",
      {"advantage", "turns", "group", "batch_episodes", "staleness", "learning_rate", "epochs",
       "clip_low", "clip_high", "importance_cap", "entropy"},
      problems);
  if (const auto* advantage = fields.Find("advantage"))
    algorithm->advantage =
        ReadWord(*advantage, "algorithm: advantage", Words(AdvantageNames()), problems)
            .value_or(algorithm->advantage);
  for (const auto& [name, value, low, high] : AlgorithmIntegers())
    if (const auto* number = fields.Find(name))
      algorithm->*value = static_cast<int>(
          ReadInteger(*number, fmt::format("algorithm: {}", name), low, high, problems)
              .value_or(algorithm->*value));
  for (const auto& [name, value, low, high] : AlgorithmReals())
    if (const auto* number = fields.Find(name))
      algorithm->*value =
          ReadBounded(*number, fmt::format("algorithm: {}", name), low, high, problems)
              .value_or(algorithm->*value);
  if (algorithm->batch_episodes % algorithm->group != 0)
    problems->Add(node,
                  fmt::format("algorithm: batch_episodes is {}, not a multiple of group {}; a "
                              "batch is whole groups",
                              algorithm->batch_episodes, algorithm->group));
}

void ReadSuites(const YamlNode& node, const SuiteLoader& loader, RunSpec* spec,
                YamlProblems* problems, std::string* suite_problems) {
  if (!node.is_list() || node.items.empty() || node.items.size() > 64) {
    problems->Add(node, "suites: write a list of 1 to 64 files, as [suites/starter.yaml]");
    return;
  }
  std::set<std::string> names;
  for (const auto& item : node.items) {
    const auto path = ReadText(item, "suites", problems);
    if (!path) continue;
    auto suite = loader(*path);
    if (!suite) {
      problems->Add(item, fmt::format("suite {} cannot be used", Shown(*path)));
      *suite_problems += "\n" + suite.error().message;
      continue;
    }
    if (!names.insert(suite->name).second)
      problems->Add(item, fmt::format("a suite of the name {} stands here already", suite->name));
    spec->suites.push_back(std::move(*suite));
  }
}

}  // namespace

Result<RunSpec> ParseRun(std::string_view text, std::string_view file, const SuiteLoader& loader) {
  YamlProblems problems;
  std::string suite_problems;
  RunSpec spec;
  if (const auto root = ParseYaml(text, {kMaxRunBytes, 8}, &problems)) {
    const Fields fields(
        *root, "the run",
        {"run", "suites", "policy", "algorithm", "reward", "budget", "device", "seed"}, &problems);
    if (const auto* name = fields.Require("run", "run: first")) {
      spec.name = ReadText(*name, "run", &problems).value_or("");
      // Printed on terminals and drawn on pages.
      const bool plain = std::none_of(spec.name.begin(), spec.name.end(),
                                      [](unsigned char c) { return c < 32 || c == 127; });
      if (spec.name.empty() || spec.name.size() > 128 || !plain)
        problems.Add(*name, "run: write a name of 1 to 128 characters, none of them a control one");
    }
    if (const auto* suites = fields.Require("suites", "suites: [suites/starter.yaml]"))
      ReadSuites(*suites, loader, &spec, &problems, &suite_problems);
    if (const auto* policy = fields.Require("policy", "policy: {kind: grammar}")) {
      const Fields policy_fields(*policy, "policy", {"kind"}, &problems);
      if (const auto* kind = policy_fields.Require("kind", "kind: grammar"))
        spec.policy =
            ReadWord(*kind, "policy: kind", Words(PolicyNames()), &problems).value_or(spec.policy);
    }
    if (const auto* algorithm = fields.Find("algorithm"))
      ReadAlgorithm(*algorithm, &spec.algorithm, &problems);
    if (const auto* reward = fields.Find("reward")) {
      const auto word = ReadWord(*reward, "reward", {"milestone", "hybrid", "speedup"}, &problems);
      if (word) spec.reward = *ParseWord<RewardKind>(*word);
    }
    if (const auto* budget = fields.Require("budget", "budget: {evaluations: 10000}")) {
      const Fields budget_fields(*budget, "budget", {"evaluations"}, &problems);
      if (const auto* evaluations = budget_fields.Require("evaluations", "evaluations: 10000"))
        spec.budget_evaluations =
            ReadInteger(*evaluations, "budget: evaluations", 1, 1'000'000'000, &problems)
                .value_or(1);
    }
    if (const auto* device = fields.Find("device"))
      spec.device = ReadWord(*device, "device", DeviceWords(), &problems).value_or("auto");
    if (const auto* seed = fields.Find("seed"))
      spec.seed = static_cast<uint64_t>(
          ReadInteger(*seed, "seed", 0, std::numeric_limits<int64_t>::max(), &problems)
              .value_or(1));
  }
  if (!problems.empty())
    return Fail(ErrorCode::kInvalidInput, problems.ToString(file) + suite_problems);
  return spec;
}

Result<RunSpec> LoadRun(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxRunBytes));
  return ParseRun(text, path.string(), [&](const std::string& suite) {
    const auto beside = path.parent_path() / suite;
    std::error_code error;
    return LoadSuite(std::filesystem::exists(beside, error) ? beside
                                                            : std::filesystem::path(suite));
  });
}

}  // namespace warpsmith
