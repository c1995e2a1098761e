#include "common/suite/run_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "common/suite/suite_file.h"
#include "common/suite/text_file.h"
#include "common/suite/yaml_fields.h"

namespace warpsmith {
namespace {

void ReadAlgorithm(const YamlNode& node, Algorithm* algorithm, YamlProblems* problems) {
  const Fields fields(
      node, "algorithm",
      {"advantage", "turns", "group", "batch_episodes", "staleness", "learning_rate", "epochs",
       "clip_low", "clip_high", "importance_cap", "entropy"},
      problems);
  const auto whole = [&](const char* name, int low, int high, int* out) {
    if (const auto* value = fields.Find(name))
      *out = static_cast<int>(
          ReadInteger(*value, std::string("algorithm: ") + name, low, high, problems)
              .value_or(*out));
  };
  const auto real = [&](const char* name, double low, double high, double* out) {
    if (const auto* value = fields.Find(name))
      *out = ReadBounded(*value, std::string("algorithm: ") + name, low, high, problems)
                 .value_or(*out);
  };
  if (const auto* advantage = fields.Find("advantage"))
    algorithm->advantage =
        ReadWord(*advantage, "algorithm: advantage", {"trloo", "trloo_to_go"}, problems)
            .value_or("trloo");
  whole("turns", 1, 64, &algorithm->turns);
  // Leaving one out needs another.
  whole("group", 2, 1024, &algorithm->group);
  whole("batch_episodes", 2, 65536, &algorithm->batch_episodes);
  whole("staleness", 0, 1024, &algorithm->staleness);
  whole("epochs", 1, 64, &algorithm->epochs);
  real("learning_rate", 0, 1, &algorithm->learning_rate);
  real("clip_low", 0, 1, &algorithm->clip_low);
  real("clip_high", 0, 10, &algorithm->clip_high);
  real("importance_cap", 1, 1000, &algorithm->importance_cap);
  real("entropy", 0, 10, &algorithm->entropy);
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
            ReadWord(*kind, "policy: kind", {"grammar", "random"}, &problems).value_or("grammar");
    }
    if (const auto* algorithm = fields.Find("algorithm"))
      ReadAlgorithm(*algorithm, &spec.algorithm, &problems);
    if (const auto* reward = fields.Find("reward")) {
      const auto word = ReadWord(*reward, "reward", {"milestone", "hybrid", "speedup"}, &problems);
      if (word) spec.reward = *ParseRewardKind(*word);
    }
    if (const auto* budget = fields.Require("budget", "budget: {evaluations: 10000}")) {
      const Fields budget_fields(*budget, "budget", {"evaluations"}, &problems);
      if (const auto* evaluations = budget_fields.Require("evaluations", "evaluations: 10000"))
        spec.budget_evaluations =
            ReadInteger(*evaluations, "budget: evaluations", 1, 1'000'000'000, &problems)
                .value_or(1);
    }
    if (const auto* device = fields.Find("device"))
      spec.device = ReadWord(*device, "device", {"auto", "cuda", "host", "simulated"}, &problems)
                        .value_or("auto");
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
