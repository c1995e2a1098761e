#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "common/base/random.h"
#include "common/suite/plan_file.h"
#include "common/suite/resolve.h"
#include "policy/core/observation.h"
#include "policy/grammar/cuda_text.h"
#include "policy/grammar/families.h"
#include "policy/grammar/random_policy.h"
#include "policy/grammar/row_program.h"
#include "policy/grammar/shipped_tasks.h"

namespace warpsmith {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceFacts Device(DeviceKind kind) {
  DeviceFacts facts;
  facts.kind = kind;
  if (kind == DeviceKind::kCuda) {
    facts.sm_count = 132;
    facts.max_shared_bytes = 227 * 1024;
  }
  return facts;
}

Action Draw(const Task& task, DeviceKind kind, uint64_t seed) {
  const DeviceFacts device = Device(kind);
  RandomPolicy policy(Families());
  const Observation observation{.task = task, .device = device, .seed = seed};
  auto actions = policy.Act(std::span(&observation, 1));
  EXPECT_TRUE(actions) << actions.error().message;
  return actions ? actions->at(0) : Action{};
}

std::string FamilyOf(const Task& task) {
  const auto family = FindFamily(Families(), task);
  return family ? std::string((*family)->name()) : family.error().message;
}

Task Operation(const std::string& expression) {
  Task task = ShippedTasks()[3];
  const std::string& text = task.reference;
  task.reference = text.substr(0, text.find("return")) + "return " + expression + "\n";
  return task;
}

// Parameter types as a compiler would report them for a plan's arguments.
KernelInfo Kernel(const LaunchSpec& launch, const Task& task) {
  KernelInfo info{.name = launch.kernel, .symbol = launch.kernel};
  for (const std::string& argument : launch.args) {
    const auto named = [&](const auto& spec) { return spec.name == argument; };
    if (std::any_of(task.inputs.begin(), task.inputs.end(), named) ||
        std::any_of(task.outputs.begin(), task.outputs.end(), named))
      info.parameters.push_back(ParameterType::kPointer);
    else if (std::any_of(task.scalars.begin(), task.scalars.end(), named))
      info.parameters.push_back(ParameterType::kFloat32);
    else
      info.parameters.push_back(ParameterType::kInt32);
  }
  return info;
}

TEST(Grammar, RefusesWhatNoFamilyKnowsAndSaysWhy) {
  EXPECT_THAT(FamilyOf(Operation("torch.cumsum(x, -1)")),
              AnyOf(HasSubstr("transpose: "), HasSubstr("row: "), HasSubstr("elementwise: ")));
  EXPECT_THAT(FamilyOf(Operation("torch.softmax(x, 0)")), HasSubstr("another dimension"));
  EXPECT_THAT(FamilyOf(Operation("torch.matmul(x, x)")), HasSubstr("matmul"));
  EXPECT_THAT(FamilyOf(Operation("x + cols")), HasSubstr("`cols`"));
  // A sum without keepdim broadcasts along the wrong dimension.
  EXPECT_THAT(FamilyOf(Operation("x / torch.sum(x, -1)")), HasSubstr("broadcasts"));
  Task integers = ShippedTasks()[1];
  integers.inputs[0].dtype = Dtype::kInt32;
  EXPECT_THAT(FamilyOf(integers), HasSubstr("not floating"));
  Task two = ShippedTasks()[1];
  two.outputs.push_back(two.outputs[0]);
  EXPECT_THAT(FamilyOf(two), HasSubstr("one output"));
}

TEST(Grammar, KnowsTheShippedTasks) {
  const std::vector<std::string> expected = {
      "elementwise", "elementwise", "elementwise", "row", "row", "row", "transpose", "transpose"};
  const auto tasks = ShippedTasks();
  for (size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(FamilyOf(tasks[i]), expected[i]);
}

TEST(Grammar, KnowsOperationsOfAUsersOwn) {
  for (const char* row :
       {"torch.log_softmax(x, dim=1)", "torch.layer_norm(x, [cols])",
        "torch.nn.functional.normalize(x, 2.0, -1)", "(x - torch.mean(x, -1, True)) * 2.0",
        "x - torch.logsumexp(x, [-1], True)", "torch.exp(x - x.amax(-1, keepdim=True))"})
    EXPECT_EQ(FamilyOf(Operation(row)), "row") << row;
  for (const char* chain :
       {"torch.tanh(x) + 1", "x * torch.sigmoid(1.702 * x)", "torch.clamp(x, -1, 1)",
        "torch.nn.functional.gelu(x, approximate='tanh')", "x ** 2 / 3"})
    EXPECT_EQ(FamilyOf(Operation(chain)), "elementwise") << chain;
  Task turned = ShippedTasks()[6];
  turned.reference = "def reference(x):\n    return x.t().contiguous()";
  EXPECT_EQ(FamilyOf(turned), "transpose");
  Task sums = Operation("torch.sum(x, -1)");
  sums.outputs[0].shape = {"rows"};
  EXPECT_EQ(FamilyOf(sums), "row");
}

TEST(Grammar, EveryActionIsAPlanThatFitsEveryCase) {
  for (const Task& task : ShippedTasks())
    for (const DeviceKind kind : {DeviceKind::kHost, DeviceKind::kCuda})
      for (uint64_t seed = 0; seed < 50; ++seed) {
        const Action action = Draw(task, kind, seed);
        const auto plan = ParsePlan(action.text);
        ASSERT_TRUE(plan) << plan.error().message << "\n" << action.text;
        std::vector<KernelInfo> kernels;
        for (const LaunchSpec& launch : plan->launches) kernels.push_back(Kernel(launch, task));
        for (const Case& one : CasesOf(task, kind)) {
          const auto resolved = ResolvePlan(*plan, kernels, task, one.dims, Device(kind));
          if (const auto* fit = std::get_if<ResolvedPlan>(&resolved)) {
            EXPECT_EQ(fit->launches.empty(), one.dims.at("rows") == 0);
            continue;
          }
          // Too many threads or too much shared memory are choices that a policy must learn about.
          EXPECT_THAT(Describe(std::get<Outcome>(resolved)),
                      AnyOf(HasSubstr("block"), HasSubstr("shared")))
              << action.text;
        }
      }
}

// The text of named choices, beside the one that people have read and found good. When a family's
// text changes on purpose: WARPSMITH_UPDATE_GOLDEN=1 writes the files anew; read them before you
// commit.
TEST(Grammar, WritesTextThatPeopleHaveRead) {
  const std::vector<std::pair<size_t, std::vector<std::string>>> actions = {
      {2, {"4", "256", "2", "exact", "nc", "cs", "exact", "peel", "0"}},
      {4, {"128", "1", "8", "reg", "two", "1", "exact", "cs", "exact"}},
      {6, {"shared", "32", "1", "1", "4", "rows", "wb"}}};
  for (const auto& [index, words] : actions) {
    const Task task = ShippedTasks()[index];
    const Family& family = **FindFamily(Families(), task);
    std::vector<int32_t> ids;
    for (size_t slot = 0; slot < words.size(); ++slot) {
      const auto& choices = family.slots()[slot].choices;
      const auto found = std::find(choices.begin(), choices.end(), words[slot]);
      ASSERT_NE(found, choices.end()) << words[slot];
      ids.push_back(static_cast<int32_t>(found - choices.begin()));
    }
    ASSERT_TRUE(CheckChoices(family, task, ids));
    const std::string text = family.Write(task, DeviceKind::kCuda, ids);
    const std::string path = WARPSMITH_GOLDEN "/" + std::string(family.name()) + ".cu";
    if (std::getenv("WARPSMITH_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream file(path);
    EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {})) << path;
  }
}

TEST(Grammar, TheSameChoicesGiveTheSameTextAndOthersAnother) {
  const Task task = ShippedTasks()[3];
  EXPECT_EQ(Draw(task, DeviceKind::kHost, 7), Draw(task, DeviceKind::kHost, 7));
  EXPECT_NE(Draw(task, DeviceKind::kHost, 7).text, Draw(task, DeviceKind::kHost, 8).text);
}

TEST(Grammar, EveryFamilyAllowsSomethingInEverySlotAndEveryChoiceSomewhere) {
  std::set<std::pair<const Family*, std::pair<size_t, int32_t>>> drawn;
  for (const Task& task : ShippedTasks())
    for (uint64_t seed = 0; seed < 300; ++seed) {
      const Action action = Draw(task, DeviceKind::kCuda, seed);
      const Family* family = *FindFamily(Families(), task);
      EXPECT_TRUE(CheckChoices(*family, task, action.ids));
      for (size_t slot = 0; slot < action.ids.size(); ++slot)
        drawn.insert({family, {slot, action.ids[slot]}});
    }
  size_t all = 0;
  for (const Family* family : Families())
    for (const Slot& slot : family->slots()) all += slot.choices.size();
  EXPECT_EQ(drawn.size(), all);
}

TEST(RandomPolicy, ReportsTheProbabilityItDrewWith) {
  const Task task = ShippedTasks()[6];
  const Family& family = **FindFamily(Families(), task);
  const Action action = Draw(task, DeviceKind::kHost, 3);
  for (size_t slot = 0; slot < action.ids.size(); ++slot) {
    const auto allowed = family.Allowed(task, slot, std::span(action.ids).first(slot));
    const auto count = std::count(allowed.begin(), allowed.end(), 1);
    EXPECT_FLOAT_EQ(action.log_probs[slot], -std::log(static_cast<float>(count)));
    EXPECT_EQ(action.mask[slot], count > 1);
  }
  EXPECT_FALSE(RandomPolicy(Families()).Load("weights.safetensors", {1, 1}));
}

TEST(RowProgram, OnePassExistsWhereAFormulaDoes) {
  const auto passes = [](const std::string& expression, PassMode mode) {
    const Task task = Operation(expression);
    const auto program = ReadRowProgram(task, mode);
    return program ? program->passes : 0;
  };
  EXPECT_EQ(passes("torch.softmax(x, -1)", PassMode::kTwo), 2u);
  EXPECT_EQ(passes("torch.softmax(x, -1)", PassMode::kOne), 1u);
  EXPECT_EQ(passes("torch.layer_norm(x, [cols])", PassMode::kTwo), 2u);
  EXPECT_EQ(passes("torch.layer_norm(x, [cols])", PassMode::kOne), 1u);
  EXPECT_EQ(passes("torch.sum(x * x, -1, True) * x", PassMode::kTwo), 1u);
  EXPECT_EQ(passes("torch.softmax(torch.softmax(x, -1), -1)", PassMode::kTwo), 4u);
  EXPECT_EQ(passes("torch.softmax(x, -1) + torch.log_softmax(x, -1)", PassMode::kTwo), 2u);
}

// Words of a text that are code of its own: no comments, numbers, preprocessor lines, nor what is
// named after something of the task.
std::set<std::string> OwnWords(const std::string& text, const Task& task) {
  std::set<std::string> words;
  std::istringstream lines(text.substr(text.find("*/") + 2));
  const auto is_word = [](char c) { return std::isalnum(c) || c == '_'; };
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("//"));
    if (line.starts_with('#')) continue;
    for (size_t i = 0; i < line.size();) {
      size_t end = i;
      while (end < line.size() &&
             (is_word(line[end]) || (std::isdigit(line[i]) && line[end] == '.')))
        ++end;
      const std::string word = line.substr(i, end - i);
      i = std::max(end, i + 1);
      if (!word.empty() && !std::isdigit(word[0])) words.insert(word);
    }
  }
  std::set<std::string> names = {"row_max",  "row_min",      "row_sum",
                                 "row_mean", "row_variance", "mean_square"};
  for (const auto& input : task.inputs) names.insert(input.name);
  for (const auto& output : task.outputs) names.insert(output.name);
  for (const auto& scalar : task.scalars) names.insert(scalar.name);
  std::erase_if(words, [&](const std::string& word) {
    const std::string stem = word.substr(0, word.rfind('_'));
    return names.contains(word) || names.contains(stem) || word.ends_with("_kernel") ||
           word.starts_with("pass_");
  });
  return words;
}

// A parameter that the text means something else by gives another result, or none that compiles:
// a scalar `k` would be the loop's.
TEST(Grammar, NoWordOfATextIsLeftToATask) {
  // Parameters of device functions that stand before the kernel hide nothing in it, nor do members.
  const std::set<std::string> elsewhere = {"v",     "a",      "b",   "low", "high",
                                           "slope", "length", "raw", "x",   "y"};
  std::vector<Task> tasks = ShippedTasks();
  for (const char* operation :
       {"torch.layer_norm(x, [cols])", "torch.log_softmax(x, -1)", "torch.amin(x, -1, True) - x",
        "torch.clamp(x, -1, 1) / torch.nn.functional.softplus(x) + torch.sqrt(torch.abs(x))",
        "torch.relu(x) + torch.sigmoid(x) * torch.tanh(x) + torch.maximum(x, torch.square(x))",
        "torch.minimum(x, -x) + torch.nn.functional.leaky_relu(x) + torch.log1p(x * x) ** 3",
        "torch.erf(x) + torch.rsqrt(torch.exp(x)) + torch.sin(x) * torch.cos(x)",
        "torch.floor(x) + torch.ceil(x) + torch.expm1(x) - torch.log(x * x + 1)"})
    tasks.push_back(Operation(operation));
  std::set<std::string> left;
  for (const Task& task : tasks)
    for (uint64_t seed = 0; seed < 40; ++seed)
      for (const std::string& word : OwnWords(Draw(task, DeviceKind::kCuda, seed).text, task))
        if (SafeName(word) == word && !elsewhere.contains(word)) left.insert(word);
  EXPECT_THAT(left, ::testing::IsEmpty());
}

TEST(Grammar, KeywordsAreArgumentsToo) {
  Task task = Operation("torch.clamp(x, min=low, max=high)");
  task.scalars = {{.name = "low", .value = -1}};
  task.inputs.push_back(task.inputs[0]);
  task.inputs.back().name = "high";
  task.reference = "def reference(x, low, high):\n    return torch.clamp(x, min=low, max=high)";
  EXPECT_EQ(FamilyOf(task), "elementwise");
  EXPECT_THAT(Draw(task, DeviceKind::kHost, 1).text, HasSubstr("clamp(x, low, high)"));

  // A reduction in a keyword comes in a pass before.
  task.reference =
      "def reference(x, low, high):\n"
      "    return torch.sum(torch.clamp(x, min=low, max=torch.mean(high, -1, True)), -1, True) * x";
  EXPECT_EQ(FamilyOf(task), "row");
  const auto program = ReadRowProgram(task, PassMode::kTwo);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->passes, 2u);
  // One value a column, in a keyword only.
  task.inputs.back().shape = {"cols"};
  task.reference =
      "def reference(x, low, high):\n"
      "    return torch.clamp(torch.softmax(x, -1), min=low, max=high)";
  EXPECT_THAT(Draw(task, DeviceKind::kHost, 1).text, HasSubstr("high_part = load_part(high"));
}

TEST(Grammar, NamesOfATaskNeverClashWithTheText) {
  Task task = Operation("torch.exp(tile) + elements");
  task.inputs[0].name = "tile";
  task.inputs.push_back(task.inputs[0]);
  task.inputs.back().name = "elements";
  task.reference = "def reference(tile, elements):\n    return torch.exp(tile) + elements";
  const std::string text = Draw(task, DeviceKind::kHost, 1).text;
  EXPECT_THAT(text, HasSubstr("__restrict__ tile_in"));
  EXPECT_THAT(text, HasSubstr("float elements_in"));
  EXPECT_THAT(text, Not(HasSubstr("__restrict__ tile,")));
}

}  // namespace
}  // namespace warpsmith
