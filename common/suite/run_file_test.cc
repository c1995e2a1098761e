#include "common/suite/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/random.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kRun = R"(run: first
suites: [suites/starter.yaml]
policy: {kind: grammar}
algorithm: {advantage: trloo, turns: 4, group: 16, batch_episodes: 64, staleness: 4}
reward: hybrid
budget: {evaluations: 10000}
device: auto
seed: 1
)";

Result<RunSpec> Parse(std::string_view text) {
  return ParseRun(text, "first.yaml", [](const std::string& path) -> Result<Suite> {
    if (path == "suites/starter.yaml") return Suite{.name = "starter", .tasks = {Task{}}};
    return Fail(ErrorCode::kNotFound, path + ": no such file");
  });
}

std::string Problem(std::string_view from, std::string_view to) {
  std::string text = kRun;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const auto run = Parse(text.replace(at, from.size(), to));
  EXPECT_FALSE(run) << to;
  return run ? "" : run.error().message;
}

TEST(RunFile, ReadsTheDesignsExample) {
  const auto run = Parse(kRun);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->name, "first");
  EXPECT_THAT(run->suites, SizeIs(1));
  EXPECT_EQ(run->algorithm, Algorithm{});
  EXPECT_EQ(run->budget_evaluations, 10000);
  EXPECT_EQ(run->reward, RewardKind::kHybrid);
  EXPECT_TRUE(Learns(*run));
}

TEST(RunFile, BoundsAreChecked) {
  EXPECT_THAT(Problem("turns: 4", "turns: 0"),
              HasSubstr("first.yaml:4:38: algorithm: turns is `0`"));
  EXPECT_THAT(Problem("group: 16", "group: 1"), HasSubstr("whole number from 2"));
  EXPECT_THAT(Problem("batch_episodes: 64", "batch_episodes: 63"),
              HasSubstr("multiple of group 16"));
  EXPECT_THAT(Problem("staleness: 4", "staleness: -1"), HasSubstr("whole number from 0"));
  EXPECT_THAT(Problem("staleness: 4", "learning_rate: nan"), HasSubstr("finite number"));
  EXPECT_THAT(Problem("staleness: 4", "clip_low: \"0.2\""), HasSubstr("without quotes"));
  EXPECT_THAT(Problem("evaluations: 10000", "evaluations: 0"), HasSubstr("from 1"));
  EXPECT_THAT(Problem("evaluations: 10000", "evaluations: 1e4"), HasSubstr("whole number"));
  EXPECT_THAT(Problem("seed: 1", "seed: -1"), HasSubstr("from 0"));
  EXPECT_THAT(Problem("run: first", "run: \"a\\e[2Jb\""), HasSubstr("none of them a control one"));
  EXPECT_THAT(Problem("run: first", "run: " + std::string(129, 'x')), HasSubstr("128 characters"));
}

TEST(RunFile, WordsAreChecked) {
  EXPECT_THAT(Problem("kind: grammar", "kind: gramar"), HasSubstr("write grammar or random"));
  EXPECT_THAT(Problem("trloo", "grpo"), HasSubstr("write trloo or trloo_to_go"));
  std::string to_go = kRun;
  to_go.replace(to_go.find("trloo"), 5, "trloo_to_go");
  EXPECT_EQ(Parse(to_go)->algorithm.advantage, "trloo_to_go");
  EXPECT_THAT(Problem("hybrid", "speed"), HasSubstr("write milestone, hybrid or speedup"));
  EXPECT_THAT(Problem("device: auto", "device: gpu"), HasSubstr("auto, cuda, host or simulated"));
  EXPECT_THAT(Problem("seed: 1", "sed: 1"), HasSubstr("no field `sed`; write seed"));
  EXPECT_THAT(Problem("policy: {kind: grammar}\n", ""), HasSubstr("lacks `policy`"));
}

TEST(RunFile, ProblemsOfItsSuitesAreShown) {
  EXPECT_THAT(
      Problem("[suites/starter.yaml]", "[none.yaml]"),
      HasSubstr("first.yaml:2:10: suite none.yaml cannot be used\nnone.yaml: no such file"));
  EXPECT_THAT(Problem("[suites/starter.yaml]", "[suites/starter.yaml, suites/starter.yaml]"),
              HasSubstr("stands here already"));
  EXPECT_THAT(Problem("[suites/starter.yaml]", "[]"), HasSubstr("1 to 64 files"));
}

TEST(RunFile, SurvivesSeededDamage) {
  Random random(17);
  const std::string special = "*&!{}[]\"'#|>:,-\n\t\0\xff 09";
  int parsed = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = kRun;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n)
      text[random.Below(text.size())] = special[random.Below(special.size())];
    parsed += Parse(text).has_value();
  }
  EXPECT_GT(parsed, 50);
}

}  // namespace
}  // namespace warpsmith
