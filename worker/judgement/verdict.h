// Whether an output is right, and how it is wrong: element by element, free of any device.
//
// An element passes if it is within the task's tolerance, atol + rtol * |expected|, or within eight
// times the largest error that a strict baseline makes on this case; all together must keep the RMS
// error within twice the baseline's, or within the tolerance's own RMS (docs/design.md, "Rules",
// 2). NaN and infinities match in place. An output of nothing but zeros is never taken for values
// that the baseline can tell from zero, however wide the tolerance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/model/outcome.h"
#include "common/model/task.h"

namespace warpsmith {

constexpr double kRmsFactor = 2;  // of the strict baseline's errors
constexpr double kMaxFactor = 8;

struct ErrorStats {
  uint64_t elements = 0;
  double sum_squares = 0;  // of the finite differences
  double max_abs = 0;
  double rms() const;
  void Merge(const ErrorStats& other);
};

// What one output of one case is held to.
struct ElementRule {
  CompareKind kind = CompareKind::kValue;
  Dtype dtype = Dtype::kFloat32;
  double rtol = 0;
  double atol = 0;
  int ulps = 0;
  bool equal_nan = false;
  double max_bound = 0;  // absolute; 0: the tolerance alone
  double rms_bound = 0;
};

// `expected_rms` gives the default atol: rtol * RMS(expected). `baseline` may be empty (no
// elements).
ElementRule MakeRule(const OutputSpec& output, double expected_rms, const ErrorStats& baseline);
// The same for two results that each may be off by as much: a timed output against the baseline's.
ElementRule AgainstBaseline(const ElementRule& rule, const ErrorStats& baseline);

enum class ElementVerdict { kMatch, kValue, kNanMismatch, kInfMismatch };

// One element of kValue, kExact or kUlp (kIndexByValue needs the values pointed at: OutputJudge).
// `expected` and `got` are exact in a double; for kExact and kUlp `expected` is of the rule's
// dtype.
ElementVerdict JudgeElement(const ElementRule& rule, double expected, double got);

// Representable numbers of `dtype` between two of them; floating dtypes only, no NaN.
uint64_t UlpDistance(Dtype dtype, double a, double b);

// Recognises where the wrong elements lie, from their flat indices in increasing order.
class PatternFinder {
 public:
  explicit PatternFinder(std::vector<int64_t> shape);
  void Add(int64_t flat);
  // "last column", "rows >= 96", "every 4th element" ...; empty when nothing is recognised.
  std::string Describe() const;

 private:
  std::string DescribeBox() const;

  std::vector<int64_t> shape_;
  std::vector<int64_t> least_, most_;
  int64_t elements_ = 1;
  int64_t count_ = 0, first_ = 0, last_ = 0, step_ = 0;
  int64_t row_begin_ = 0, row_end_ = 0;  // of the last index's row
};

// Judges one output, chunk by chunk in order. Value type with memory of a fixed size.
class OutputJudge {
 public:
  OutputJudge(const OutputSpec& output, Case timed_case, ElementRule rule,
              std::vector<int64_t> shape);

  struct Chunk {
    std::span<const double> expected;
    std::span<const double> got;
    std::span<const uint8_t> unwritten;        // 1: still the poison; empty: unknown
    std::span<const uint8_t> points_at_equal;  // kIndexByValue: 1: a fresh index to an equal value
  };
  void Add(const Chunk& chunk);
  // Whole numbers beyond a double's 53 bits; kExact, or kValue with the difference taken exactly.
  void AddWhole(std::span<const int64_t> expected, std::span<const int64_t> got,
                std::span<const uint8_t> unwritten);

  const ErrorStats& errors() const { return errors_; }
  // Nothing: the output is right. Call once all elements are in.
  std::optional<WrongOutputReport> Finish();

 private:
  void Wrong(ElementVerdict verdict, double expected, double got, bool unwritten);
  void Measure(double expected, double got, double error);

  WrongOutputReport report_;
  ElementRule rule_;
  std::vector<int64_t> shape_;
  PatternFinder wrong_;
  ErrorStats errors_;
  int64_t at_ = 0;
  int64_t worst_ = -1;
  double worst_error_ = -1, worst_expected_ = 0, worst_got_ = 0;
  double sum_tolerance_squares_ = 0;
  uint64_t outside_tolerance_ = 0;
  uint64_t unwritten_ = 0;    // of the wrong ones
  uint64_t significant_ = 0;  // expected values that the baseline tells from zero
  bool all_zero_ = true, all_same_ = true;
  double first_got_ = 0;
};

// A flat index in every dimension; empty for a scalar.
std::vector<int64_t> Unflatten(int64_t flat, std::span<const int64_t> shape);

}  // namespace warpsmith
