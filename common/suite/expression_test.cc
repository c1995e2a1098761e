#include "common/suite/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/random.h"

namespace warpsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Names kNames{{"rows", 100}, {"cols", 7}, {"zero", 0}, {"big", INT64_MAX}};

std::string Problem(std::string_view text) {
  const auto value = EvaluateExpression(text, kNames);
  EXPECT_FALSE(value) << text << " = " << value.value_or(0);
  return value ? "" : value.error().message;
}

TEST(Expression, ComputesAsCDoes) {
  EXPECT_EQ(EvaluateExpression("1 + 2 * 3", kNames), 7);
  EXPECT_EQ(EvaluateExpression("(1 + 2) * 3", kNames), 9);
  EXPECT_EQ(EvaluateExpression("-7 / 2", kNames), -3);
  EXPECT_EQ(EvaluateExpression("-7 % 2", kNames), -1);
  EXPECT_EQ(EvaluateExpression("- -3", kNames), 3);
  EXPECT_EQ(EvaluateExpression("10 - 3 - 2", kNames), 5);
  EXPECT_EQ(EvaluateExpression(" rows*cols ", kNames), 700);
}

TEST(Expression, RoundsCeilDivUp) {
  EXPECT_EQ(EvaluateExpression("ceil_div(rows, cols)", kNames), 15);
  EXPECT_EQ(EvaluateExpression("ceil_div(98, cols)", kNames), 14);
  EXPECT_EQ(EvaluateExpression("ceil_div(0, cols)", kNames), 0);
  EXPECT_EQ(EvaluateExpression("ceil_div(-7, 2)", kNames), -3);
  EXPECT_EQ(EvaluateExpression("ceil_div(7, -2)", kNames), -3);
  EXPECT_EQ(EvaluateExpression("ceil_div(-7, -2)", kNames), 4);
  EXPECT_EQ(EvaluateExpression("ceil_div(big, 2)", kNames), INT64_MAX / 2 + 1);
  EXPECT_EQ(EvaluateExpression("min(rows, cols, 9)", kNames), 7);
  EXPECT_EQ(EvaluateExpression("max(rows, cols)", kNames), 100);
}

TEST(Expression, NeverWraps) {
  EXPECT_THAT(Problem("big + 1"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("big * 2"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("-big - 2"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("(-big - 1) / -1"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("(-big - 1) % -1"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("9223372036854775808"), HasSubstr("64 bits"));
  EXPECT_THAT(Problem("rows / zero"), HasSubstr("division by zero"));
  EXPECT_THAT(Problem("rows % (cols - 7)"), HasSubstr("division by zero"));
  EXPECT_THAT(Problem("ceil_div(rows, zero)"), HasSubstr("division by zero"));
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_THAT(Problem("rowz * 2"), HasSubstr("`rowz` is not known here; known: big, cols, rows"));
  EXPECT_THAT(Problem(""), HasSubstr("missing"));
  EXPECT_THAT(Problem("1 +"), HasSubstr("missing"));
  EXPECT_THAT(Problem("(1"), HasSubstr("')' is missing"));
  EXPECT_THAT(Problem("1 2"), HasSubstr("unexpected '2'"));
  EXPECT_THAT(Problem("1.5"), HasSubstr("not a whole number"));
  EXPECT_THAT(Problem("0x10"), HasSubstr("not a whole number"));
  EXPECT_THAT(Problem("log(2)"), HasSubstr("no function `log`"));
  EXPECT_THAT(Problem("ceil_div(1)"), HasSubstr("two arguments, not 1"));
  EXPECT_THAT(Problem("ceil_div(1, 2, 3)"), HasSubstr("two arguments, not 3"));
  EXPECT_THAT(Problem(std::string("1\0+ 1", 5)), HasSubstr("\\x00"));
  EXPECT_THAT(Problem("1 ** 2"), HasSubstr("'*'"));
  EXPECT_THAT(Problem("+1"), HasSubstr("'+'"));
}

TEST(Expression, IsBounded) {
  EXPECT_THAT(Problem(std::string(2000, '(')), HasSubstr("at most 1024"));
  EXPECT_THAT(Problem(std::string(200, '(') + "1" + std::string(200, ')')), HasSubstr("nested"));
  EXPECT_EQ(EvaluateExpression(std::string(1000, '-') + "1", kNames), 1);
  EXPECT_THAT(Problem(std::string(65, 'a')), HasSubstr("longer than 64"));
}

TEST(Expression, IsCheckedWithoutNames) {
  EXPECT_TRUE(CheckExpression("anything / (else - else)"));
  EXPECT_FALSE(CheckExpression("anything /"));
  EXPECT_THAT(*NamesUsed("ceil_div(b, a) + b * 2"), ElementsAre("b", "a"));
}

TEST(Expression, ListsSplitOutsideBracketsOnly) {
  EXPECT_THAT(*SplitList("ceil_div(a, b), 1"), ElementsAre("ceil_div(a, b)", "1"));
  EXPECT_THAT(*SplitList("k<1, true>"), ElementsAre("k<1, true>"));
  EXPECT_FALSE(SplitList("a,,b"));
  EXPECT_FALSE(SplitList("a,"));
  EXPECT_FALSE(SplitList("f(a, b"));
  EXPECT_FALSE(SplitList("a) b"));
  EXPECT_FALSE(SplitList(""));
}

TEST(Expression, SurvivesAnyText) {
  Random random(7);
  const std::string alphabet = "09ab_+-*/%(), .<\xff" + std::string(1, '\0') + "min(max(ceil_div(";
  int values = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint64_t n = random.Below(24); n > 0; --n) text += alphabet[random.Below(alphabet.size())];
    const auto value = EvaluateExpression(text, {{"a", 3}, {"b", -1}});
    values += value.has_value();
    // What has a value has a grammar, too.
    if (value) {
      EXPECT_TRUE(CheckExpression(text)) << text;
    }
  }
  EXPECT_GT(values, 100);  // the generator does reach valid texts
}

}  // namespace
}  // namespace warpsmith
