#include "worker/judgement/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace warpsmith {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

OutputSpec Output(double rtol, std::optional<double> atol = std::nullopt) {
  return {.name = "y", .rtol = rtol, .atol = atol};
}

std::optional<WrongOutputReport> Judge(const OutputSpec& output,
                                       const std::vector<double>& expected,
                                       const std::vector<double>& got,
                                       std::vector<int64_t> shape = {},
                                       const ErrorStats& baseline = {},
                                       std::vector<uint8_t> unwritten = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(expected.size())};
  double squares = 0;
  for (double e : expected)
    if (std::isfinite(e)) squares += e * e;
  const double rms = std::sqrt(squares / std::max<double>(1, static_cast<double>(expected.size())));
  OutputJudge judge(output, Case{}, MakeRule(output, rms, baseline), shape);
  // In two chunks, as big outputs come.
  const size_t half = expected.size() / 2;
  const std::span<const double> e(expected), g(got);
  const std::span<const uint8_t> u(unwritten);
  judge.Add({e.first(half), g.first(half), u.empty() ? u : u.first(half), {}});
  judge.Add({e.subspan(half), g.subspan(half), u.empty() ? u : u.subspan(half), {}});
  return judge.Finish();
}

std::vector<double> Ramp(size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Tolerance, ZerosFailEvenUnderAToleranceWiderThanTheValues) {
  const std::vector<double> softmax(8 * 4096, 1.0 / 4096);
  const auto report =
      Judge(Output(1e-2, 1e-2), softmax, std::vector<double>(softmax.size(), 0.0), {8, 4096});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->pattern, "all zero");
  EXPECT_EQ(report->wrong_elements, softmax.size());
  // The default atol, from the values' own size, sees it element by element.
  EXPECT_TRUE(Judge(Output(1e-2), softmax, std::vector<double>(softmax.size(), 0.0)));
  EXPECT_FALSE(Judge(Output(1e-2), softmax, softmax));
}

TEST(Tolerance, ZerosPassWhereZeroIsRight) {
  EXPECT_FALSE(Judge(Output(1e-3), {0, 0, 0}, {0, 0, 0}));
  EXPECT_FALSE(Judge(Output(1e-3), {1e-42, 0, 2e-43}, {0, 0, 0}, {}, {3, 1e-84, 1e-42}))
      << "denormals that the baseline flushes";
}

TEST(Tolerance, NanNeverPassesByComparingFalse) {
  const auto report = Judge(Output(0.5, 100), {1, 2, 3, 4}, {kNan, kNan, kNan, kNan});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->reason, "nan_mismatch");
  EXPECT_EQ(report->wrong_elements, 4u);
}

TEST(Tolerance, NanAndInfinityMatchInPlace) {
  OutputSpec output = Output(1e-3);
  output.equal_nan = true;
  EXPECT_FALSE(Judge(output, {1, kNan, kInf, -kInf}, {1, kNan, kInf, -kInf}));
  EXPECT_TRUE(Judge(output, {1, kNan}, {kNan, 1}));
  output.equal_nan = false;
  EXPECT_TRUE(Judge(output, {1, kNan}, {1, kNan}));
  const auto signs = Judge(Output(1, kInf), {kInf, 1}, {-kInf, 1});
  ASSERT_TRUE(signs);
  EXPECT_EQ(signs->reason, "inf_mismatch");
  EXPECT_TRUE(Judge(Output(0.5, 10), {1e300, 1}, {kInf, 1})) << "infinite where it should not be";
}

TEST(Tolerance, SignIsPartOfTheValue) {
  const auto report = Judge(Output(0, 0.5), {-5.5}, {5.5});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->max_abs_error, 11.0);
}

TEST(Tolerance, ExactPrefixSumsHaveNoError) {
  EXPECT_FALSE(Judge(Output(0, 0.0), {-2, 0, 1, 3}, {-2, 0, 1, 3}));
}

TEST(Tolerance, WhatTheStrictBaselineErrsByIsAllowedToo) {
  // K = 16384 in fp16: results near 0 by cancellation, where rtol gives nothing.
  const std::vector<double> expected{0.001, -0.002, 5.0, -3.0};
  const ErrorStats baseline{4, 4 * 1e-3 * 1e-3, 1.2e-3};
  const OutputSpec flat = Output(1e-3, 1e-4);
  const std::vector<double> fp32_accumulation{0.0022, -0.0008, 5.0015, -3.001};
  EXPECT_TRUE(Judge(flat, expected, fp32_accumulation)) << "the flat tolerance alone is unfair";
  EXPECT_FALSE(Judge(flat, expected, fp32_accumulation, {}, baseline));
  const std::vector<double> fp16_accumulation{0.05, -0.03, 5.04, -3.02};
  EXPECT_TRUE(Judge(flat, expected, fp16_accumulation, {}, baseline));
}

TEST(Tolerance, ManySmallErrorsBreakTheRmsBound) {
  std::vector<double> expected(1000, 1.0), got(1000, 1.0 + 5e-4);
  const ErrorStats baseline{1000, 1000 * 1e-4 * 1e-4, 1e-4};
  const auto report = Judge(Output(1e-5, 1e-5), expected, got, {}, baseline);
  ASSERT_TRUE(report) << "each is within 8 x the largest, all together are over 2 x the RMS";
  EXPECT_EQ(report->reason, "error_bound");
  EXPECT_EQ(report->wrong_elements, 1000u);
}

TEST(Tolerance, OnePercentOffFails) { EXPECT_TRUE(Judge(Output(1e-3), {1000, 2000}, {990, 1980})); }

TEST(Tolerance, ATimedOutputMayDifferFromTheBaselineByBothErrors) {
  const ErrorStats baseline{100, 100 * 1e-6, 2e-3};
  const ElementRule rule = MakeRule(Output(1e-6), 1, baseline);
  const ElementRule paired = AgainstBaseline(rule, baseline);
  EXPECT_EQ(JudgeElement(rule, 1.0, 1.017), ElementVerdict::kValue);
  EXPECT_EQ(JudgeElement(paired, 1.0, 1.017), ElementVerdict::kMatch);
  EXPECT_EQ(JudgeElement(paired, 1.0, 1.03), ElementVerdict::kValue);
}

TEST(Exact, BitsCount) {
  OutputSpec output{.name = "y", .compare = CompareKind::kExact, .equal_nan = true};
  EXPECT_FALSE(Judge(output, {1, -0.0, kNan}, {1, -0.0, kNan}));
  EXPECT_TRUE(Judge(output, {0.0, 1}, {-0.0, 1}));
  EXPECT_TRUE(Judge(output, {1, 1}, {1, 1 + 1e-12}));
}

TEST(Exact, WholeNumbersAreComparedWithAllTheirBits) {
  OutputSpec output{.name = "y", .dtype = Dtype::kInt64, .compare = CompareKind::kExact};
  const int64_t big = (int64_t{1} << 60) + 1;
  const std::vector<int64_t> expected{big, 2}, same = expected, other{big - 1, 2};
  OutputJudge right(output, Case{}, MakeRule(output, 0, {}), {2});
  right.AddWhole(expected, same, {});
  EXPECT_FALSE(right.Finish());
  OutputJudge wrong(output, Case{}, MakeRule(output, 0, {}), {2});
  wrong.AddWhole(expected, other, {});
  EXPECT_TRUE(wrong.Finish());
}

TEST(Ulp, CountsRepresentableNumbers) {
  EXPECT_EQ(UlpDistance(Dtype::kFloat32, 1.0, 1.0 + 0x1p-23), 1u);
  EXPECT_EQ(UlpDistance(Dtype::kFloat32, -0.0, 0.0), 0u);
  EXPECT_EQ(UlpDistance(Dtype::kFloat32, -0x1p-149, 0x1p-149), 2u);
  EXPECT_EQ(UlpDistance(Dtype::kBFloat16, 1.0, 1.0 + 0x1p-6), 2u);
  EXPECT_EQ(UlpDistance(Dtype::kFloat16, 1.0, 1.0 - 0x1p-11), 1u);
  EXPECT_EQ(UlpDistance(Dtype::kFloat16, 0x1p-24, 0x1p-14), 1023u);
  EXPECT_EQ(UlpDistance(Dtype::kFloat64, 1.0, 1.0 + 0x1p-52), 1u);
  OutputSpec output{
      .name = "y", .dtype = Dtype::kBFloat16, .compare = CompareKind::kUlp, .ulps = 1};
  EXPECT_FALSE(Judge(output, {1.0, 2.0}, {1.0 + 0x1p-7, 2.0}));
  EXPECT_TRUE(Judge(output, {1.0, 2.0}, {1.0 + 0x1p-6, 2.0}));
}

TEST(Indices, MayDifferWhereTheValuesAreEqual) {
  OutputSpec output{.name = "i", .dtype = Dtype::kInt64, .compare = CompareKind::kIndexByValue};
  const std::vector<double> expected{3, 5}, got{4, 5};
  for (uint8_t equal : {1, 0}) {
    OutputJudge judge(output, Case{}, MakeRule(output, 0, {}), {2});
    const std::vector<uint8_t> points_at_equal{equal, 1};
    judge.Add({expected, got, {}, points_at_equal});
    EXPECT_EQ(judge.Finish().has_value(), equal == 0);
  }
}

// ---- where it is wrong

WrongOutputReport WrongWhere(std::vector<int64_t> shape, auto wrong) {
  int64_t n = 1;
  for (int64_t size : shape) n *= size;
  auto expected = Ramp(static_cast<size_t>(n));
  auto got = expected;
  for (int64_t i = 0; i < n; ++i)
    if (wrong(i)) got[static_cast<size_t>(i)] += 1000;
  const auto report = Judge(Output(1e-4), expected, got, shape);
  EXPECT_TRUE(report);
  return report.value_or(WrongOutputReport{});
}

TEST(Pattern, NamesThePlaceInTheShapesWords) {
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i % 5 == 4; }).pattern, "last column");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i % 5 == 0; }).pattern, "first column");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i >= 25; }).pattern, "last row");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i >= 20; }).pattern, "rows >= 4");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i % 5 >= 3; }).pattern, "columns >= 3");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i / 5 == 2; }).pattern, "row 2");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i % 5 == 4 && i != 9; }).pattern,
            "all within the last column");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto) { return true; }).pattern, "every element");
  EXPECT_EQ(WrongWhere({6, 5}, [](auto i) { return i >= 23; }).pattern,
            "everything from flat index 23 on");
  EXPECT_EQ(WrongWhere({30}, [](auto i) { return i >= 23; }).pattern, "elements >= 23");
  EXPECT_EQ(WrongWhere({33}, [](auto i) { return i % 4 == 3; }).pattern, "every 4th element");
  EXPECT_EQ(WrongWhere({2, 3, 4}, [](auto i) { return i >= 12; }).pattern,
            "last index of dimension 0");
  EXPECT_EQ(WrongWhere({7, 7}, [](auto i) { return i == 3 || i == 11 || i == 12; }).pattern, "");
}

TEST(Pattern, FirstAndWorstAreGivenInEveryDimension) {
  auto expected = Ramp(24), got = expected;
  got[9] += 100;
  got[17] -= 5000;
  const auto report = Judge(Output(1e-4), expected, got, {2, 3, 4});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->wrong_elements, 2u);
  EXPECT_EQ(report->elements, 24u);
  EXPECT_EQ(report->first_index, (std::vector<int64_t>{0, 2, 1}));
  EXPECT_EQ(report->expected, 10);
  EXPECT_EQ(report->got, 110);
  EXPECT_EQ(report->worst_index, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(report->worst_got, 18 - 5000.0);
  EXPECT_EQ(report->max_abs_error, 5000);
}

TEST(Pattern, PoisonThatIsStillThereWasNeverWritten) {
  auto expected = Ramp(20), got = expected;
  std::vector<uint8_t> unwritten(20, 0);
  for (size_t i = 15; i < 20; ++i) {
    got[i] = kNan;
    unwritten[i] = 1;
  }
  const auto report = Judge(Output(1e-4), expected, got, {4, 5}, {}, unwritten);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->pattern, "never written: last row");
  const auto nothing = Judge(Output(1e-4), expected, std::vector<double>(20, kNan), {4, 5}, {},
                             std::vector<uint8_t>(20, 1));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->pattern, "never written: every element");
}

TEST(Pattern, OneValueEverywhereIsTold) {
  const auto report = Judge(Output(1e-4), Ramp(10), std::vector<double>(10, 7.0));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->pattern, "all the same value");
}

TEST(Judge, NoElementsAreRight) { EXPECT_FALSE(Judge(Output(1e-4), {}, {}, {0, 7})); }

}  // namespace
}  // namespace warpsmith
