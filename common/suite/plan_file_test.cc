#include "common/suite/plan_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/random.h"

namespace warpsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSoftmax = R"(// A licence line does no harm.
/* warpsmith
let:
  rows_per_block: 4
  threads: 32 * rows_per_block
launches:
  - kernel: softmax_rows<8>
    grid:   ceil_div(rows, rows_per_block), 1
    block:  [32, rows_per_block]
    shared: 4 * threads
    args:   x, y, rows, cols
temps:
  partial: {dtype: float32, shape: "rows, 2"}
zero: [partial, y]
*/
template <int Vec> __global__ void softmax_rows(const float* x, float* y, int rows, int cols) {}
)";

std::string WithPlan(std::string_view yaml) { return "/* warpsmith\n" + std::string(yaml) + "*/"; }

std::string Problem(std::string_view text) {
  const auto plan = ParsePlan(text);
  EXPECT_FALSE(plan) << text;
  return plan ? "" : plan.error().message;
}

std::string KernelProblem(std::string_view kernel) {
  return Problem(
      WithPlan(fmt::format("launches:\n- kernel: {}\n  grid: 1\n  block: 1\n  args: x\n", kernel)));
}

TEST(PlanFile, ReadsThePlanOfACandidate) {
  const auto plan = ParsePlan(kSoftmax);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->launches.size(), 1u);
  const auto& launch = plan->launches[0];
  EXPECT_EQ(launch.kernel, "softmax_rows<8>");
  EXPECT_THAT(launch.grid, ElementsAre("ceil_div(rows, rows_per_block)", "1"));
  EXPECT_THAT(launch.block, ElementsAre("32", "rows_per_block"));
  EXPECT_EQ(launch.shared, "4 * threads");
  EXPECT_THAT(launch.args, ElementsAre("x", "y", "rows", "cols"));
  EXPECT_EQ(plan->let[1].name, "threads");
  EXPECT_THAT(plan->temps[0].shape, ElementsAre("rows", "2"));
  EXPECT_THAT(plan->zero, ElementsAre("partial", "y"));
  EXPECT_TRUE(CheckPlan(*plan));
}

TEST(PlanFile, AnUnquotedCommaInAListDoesNoHarm) {
  const auto plan = ParsePlan(WithPlan(
      "launches:\n- {kernel: k, grid: [ceil_div(n, 4), 1], block: 32, args: [x, max(n, 1), n]}\n"));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->launches[0].grid, ElementsAre("ceil_div(n, 4)", "1"));
  EXPECT_THAT(plan->launches[0].args, ElementsAre("x", "max(n, 1)", "n"));
}

TEST(PlanFile, ByteOrderMarksAndCarriageReturnsAreHarmless) {
  std::string crlf = "\xef\xbb\xbf";
  for (const char c : std::string(kSoftmax))
    crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto plan = ParsePlan(crlf);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(*plan, *ParsePlan(kSoftmax));
  EXPECT_FALSE(AdmitCandidate(crlf)->starts_with("\xef"));
}

TEST(PlanFile, TextsThatCannotBeCandidatesAreNotAdmitted) {
  EXPECT_THAT(Problem(std::string(kMaxCandidateBytes + 1, ' ')), HasSubstr("at most 262144"));
  EXPECT_THAT(Problem(std::string("a\nb\0c", 5)), HasSubstr("line 2: a NUL byte"));
  EXPECT_THAT(Problem(""), HasSubstr("empty"));
  EXPECT_THAT(Problem("__global__ void f() {}"), HasSubstr("no launch plan: begin the text with"));
  EXPECT_THAT(Problem("/* licence */ /* warpsmith launches: [] */"),
              HasSubstr("first block comment"));
  EXPECT_THAT(Problem("/* warpsmith\nlaunches:"), HasSubstr("never ends"));
}

TEST(PlanFile, CommentMarksInLiteralsAreNoComments) {
  EXPECT_TRUE(ParsePlan("const char* s = \"/* \\\" no\"; // /* no\n" + std::string(kSoftmax)));
}

TEST(PlanFile, ProblemsNameTheLaunchTheFieldAndTheAuthorsLine) {
  const auto problem = Problem(
      WithPlan("launches:\n- kernel: k\n  grid: 1 +\n  block: 1, 2, 3, 4\n  args: x\n  smem: 4\n"));
  EXPECT_THAT(problem, HasSubstr("line 4: launch 1 (k): grid:"));
  EXPECT_THAT(problem, HasSubstr("line 5: launch 1 (k): block: 4 sizes"));
  EXPECT_THAT(problem, HasSubstr("line 7: launch 1 has no field `smem`"));
}

TEST(PlanFile, UnknownAndDuplicateFieldsAreRefused) {
  EXPECT_THAT(Problem(WithPlan("launchs: []\n")), HasSubstr("no field `launchs`; write launches"));
  EXPECT_THAT(Problem(WithPlan("let: {a: 1, a: 2}\nlaunches: []\n")),
              HasSubstr("`a` stands here twice"));
  EXPECT_THAT(Problem(WithPlan("launches: []\n")), HasSubstr("at least one launch"));
  EXPECT_THAT(Problem(WithPlan("let: {sm_count: 1}\n")), HasSubstr("`sm_count` cannot be a name"));
  EXPECT_THAT(Problem(WithPlan("zero: [a, a]\n")), HasSubstr("twice"));
}

TEST(PlanFile, CleverYamlIsRefused) {
  EXPECT_THAT(Problem(WithPlan("let: &a {x: 1}\n")), HasSubstr("anchors and aliases"));
  EXPECT_THAT(Problem(WithPlan("let: {x: &a 1, y: *a}\n")), HasSubstr("anchors and aliases"));
  EXPECT_THAT(Problem(WithPlan("let: !!map {x: 1}\n")), HasSubstr("tags"));
  EXPECT_THAT(Problem(WithPlan("let: {x: !int 1}\n")), HasSubstr("tags"));
  EXPECT_THAT(Problem(WithPlan("let: [[[[[[[[[[1]]]]]]]]]]\n")), HasSubstr("nested more than 8"));
  EXPECT_THAT(Problem(WithPlan("launches: []\n---\nlaunches: []\n")), HasSubstr("second document"));
  EXPECT_THAT(Problem(WithPlan("# " + std::string(kMaxPlanBytes, 'x') + "\n")), HasSubstr("16384"));
  EXPECT_THAT(Problem(WithPlan("? [a]\n: 1\n")), HasSubstr("plain name"));
  EXPECT_THAT(Problem(WithPlan(std::string(4000, '[') + "\n")), HasSubstr("nested more than 8"));
  EXPECT_THAT(Problem(WithPlan("let: {x: 'open\n")), HasSubstr("not valid YAML"));
}

TEST(PlanFile, KernelNamesMayBeOddButLegal) {
  for (const char* name :
       {"k", "ns::k", "k<8>", "k<-1, true>", "k<float>", "k<const unsigned long long*>",
        "k<ns::Op<3>, float4>", "_k9", "k<16u>", "k<long double>", "k<int*>"})
    EXPECT_TRUE(CheckKernelName(name)) << name << ": " << CheckKernelName(name).error().message;
}

TEST(PlanFile, KernelNamesCannotGoOnAsCode) {
  for (const char* name : {"",
                           "8",
                           "k<",
                           "k<>",
                           "k>",
                           "k<1>>",
                           "k;",
                           "k\"",
                           "k'",
                           "k(1)",
                           "k<sizeof(int)>",
                           "k<1+1>",
                           "k<a.b>",
                           "k::",
                           "::k",
                           "k<1,>",
                           "k{}",
                           "k\nint x",
                           "k<operator>",
                           "int",
                           "asm",
                           "k<0x10>",
                           "k<a<b<c<d<e<1>>>>>>",
                           "k<1.5>",
                           "k/**/",
                           "k\\",
                           "k<'a'>",
                           "k<&x>",
                           "k<decltype>",
                           "a b",
                           "k<1> x",
                           "k<int int2 x>"})
    EXPECT_FALSE(CheckKernelName(name)) << name;
  EXPECT_FALSE(CheckKernelName(std::string(300, 'k')));
  EXPECT_THAT(KernelProblem("\"k>; } void g() { f<1\""), HasSubstr("not a name expression"));
  EXPECT_THAT(KernelProblem("'k\"); system(\"x'"), HasSubstr("not a name expression"));
}

TEST(PlanFile, UntrustedStructsAreCheckedAgain) {
  const auto good = *ParsePlan(kSoftmax);
  const auto refused = [&](auto change) {
    auto plan = good;
    change(plan);
    EXPECT_FALSE(CheckPlan(plan));
  };
  refused([](Plan& p) { p.launches.clear(); });
  refused([](Plan& p) { p.launches.resize(17, p.launches[0]); });
  refused([](Plan& p) { p.launches[0].kernel = "k; evil"; });
  refused([](Plan& p) { p.launches[0].grid.clear(); });
  refused([](Plan& p) { p.launches[0].args.assign(65, "1"); });
  refused([](Plan& p) { p.let[0].text = "1 +"; });
  refused([](Plan& p) { p.temps[0].name = "max_shared"; });
  refused([](Plan& p) { p.zero[0] = "a b"; });
}

// The supervisor takes a plan that fails its check for a lie of the compiler's, so what the check
// refuses must have been refused as the candidate's own mistake before.
TEST(PlanFile, WhatTheCheckRefusesTheParserHasRefused) {
  const std::string launch = "launches:\n- {kernel: k, grid: 1, block: 1, args: x}\n";
  for (const char* name : {"min", "max", "ceil_div", "sm_count", "warp_size", "max_shared"})
    EXPECT_THAT(Problem(WithPlan(launch + "zero: [" + name + "]\n")),
                HasSubstr("zero: write names of outputs or temps"));
  EXPECT_THAT(Problem(WithPlan(launch + "temps: {t: {dtype: int8, shape: '1,1,1,1,1,1,1,1,1'}}\n")),
              HasSubstr("temp t: shape of 9 dimensions; at most 8"));
  std::string names;
  for (int i = 0; i < 65; ++i) names += fmt::format("{}n{}", i == 0 ? "" : ", ", i);
  EXPECT_THAT(Problem(WithPlan(launch + "zero: [" + names + "]\n")),
              HasSubstr("zero: 65 names; at most 64"));
}

// Damages a valid candidate in every way that a few edits can; whatever comes out is a plan that
// stands its check, or a message.
TEST(PlanFile, SurvivesSeededDamage) {
  const std::string valid = kSoftmax;
  const std::string special = "*&!{}[]<>\"'#|>%@`:,-?\n\t\r\0\xff 0a";
  Random random(11);
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = valid;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
      const size_t at = random.Below(text.size());
      const char c = random.Chance(0.7) ? special[random.Below(special.size())]
                                        : static_cast<char>(random.Below(256));
      switch (random.Below(4)) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1 + random.Below(3), c); break;
        case 2: text.erase(at, 1 + random.Below(8)); break;
        default: text.insert(random.Below(text.size()), text.substr(at, random.Below(40))); break;
      }
    }
    const auto plan = ParsePlan(text);
    if (plan) {
      ++parsed;
      EXPECT_TRUE(CheckPlan(*plan)) << text;
    } else {
      EXPECT_EQ(plan.error().code, ErrorCode::kInvalidInput);
      EXPECT_FALSE(plan.error().message.empty());
    }
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace warpsmith
