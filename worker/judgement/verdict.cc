#include "worker/judgement/verdict.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "common/base/check.h"
#include "common/model/dtype.h"

namespace warpsmith {
namespace {

double SmallestNormal(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16: return 0x1p-14;
    case Dtype::kFloat64: return std::numeric_limits<double>::min();
    default: return std::numeric_limits<float>::min();
  }
}

// Bits of a number that a half holds exactly.
uint16_t HalfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isinf(size)) return sign | 0x7C00;
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<uint16_t>(size * 0x1p24));
  int exponent = 0;
  const double mantissa = std::frexp(size, &exponent);  // [0.5, 1)
  return static_cast<uint16_t>(sign + ((exponent + 14) << 10) +
                               static_cast<int>((mantissa * 2 - 1) * 1024));
}

// Sign and magnitude made one line of whole numbers: neighbours differ by one, -0 and +0 are equal.
int64_t OnALine(uint64_t bits, int width) {
  const uint64_t sign = uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

int64_t LinePosition(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kFloat64: return OnALine(std::bit_cast<uint64_t>(value), 64);
    case Dtype::kFloat32: return OnALine(std::bit_cast<uint32_t>(static_cast<float>(value)), 32);
    case Dtype::kBFloat16:
      return OnALine(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16, 16);
    case Dtype::kFloat16: return OnALine(HalfBits(value), 16);
    default: CHECK(false, "ulps are for floating dtypes");
  }
}

std::string Ordinal(int64_t n) {
  const int64_t tens = n % 100, ones = n % 10;
  const char* ending = tens >= 11 && tens <= 13 ? "th"
                       : ones == 1              ? "st"
                       : ones == 2              ? "nd"
                       : ones == 3              ? "rd"
                                                : "th";
  return fmt::format("{}{}", n, ending);
}

std::string DimensionName(size_t dimension, size_t rank) {
  if (rank == 1) return "element";
  if (dimension + 1 == rank) return "column";
  if (dimension + 2 == rank) return "row";
  return fmt::format("index of dimension {}", dimension);
}

std::string Plural(size_t dimension, size_t rank) {
  if (rank == 1 || dimension + 2 >= rank) return DimensionName(dimension, rank) + "s";
  return fmt::format("indices of dimension {}", dimension);
}

const char* ReasonName(ElementVerdict verdict) {
  switch (verdict) {
    case ElementVerdict::kNanMismatch: return "nan_mismatch";
    case ElementVerdict::kInfMismatch: return "inf_mismatch";
    default: return "value";
  }
}

}  // namespace

double ErrorStats::rms() const {
  return elements == 0 ? 0 : std::sqrt(sum_squares / static_cast<double>(elements));
}

void ErrorStats::Merge(const ErrorStats& other) {
  elements += other.elements;
  sum_squares += other.sum_squares;
  max_abs = std::max(max_abs, other.max_abs);
}

ElementRule MakeRule(const OutputSpec& output, double expected_rms, const ErrorStats& baseline) {
  ElementRule rule{.kind = output.compare,
                   .dtype = output.dtype,
                   .rtol = output.rtol,
                   .atol = output.atol.value_or(output.rtol * expected_rms),
                   .ulps = output.ulps,
                   .equal_nan = output.equal_nan};
  if (output.compare == CompareKind::kValue) {
    rule.max_bound = kMaxFactor * baseline.max_abs;
    rule.rms_bound = kRmsFactor * baseline.rms();
  }
  return rule;
}

ElementRule AgainstBaseline(const ElementRule& rule, const ErrorStats& baseline) {
  ElementRule wider = rule;
  if (rule.kind == CompareKind::kValue) {
    // The baseline's own error stands on either side of the difference.
    wider.atol += 2 * baseline.max_abs;
    wider.max_bound += 2 * baseline.max_abs;
    wider.rms_bound += 2 * baseline.rms();
  }
  return wider;
}

uint64_t UlpDistance(Dtype dtype, double a, double b) {
  const int64_t from = LinePosition(dtype, a), to = LinePosition(dtype, b);
  return from < to ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                   : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
}

ElementVerdict JudgeElement(const ElementRule& rule, double expected, double got) {
  if (std::isnan(expected) || std::isnan(got)) {
    const bool both = std::isnan(expected) && std::isnan(got);
    return both && rule.equal_nan ? ElementVerdict::kMatch : ElementVerdict::kNanMismatch;
  }
  if (std::isinf(expected) || std::isinf(got))
    return expected == got ? ElementVerdict::kMatch : ElementVerdict::kInfMismatch;
  bool match = false;
  switch (rule.kind) {
    case CompareKind::kValue:
      match = std::abs(got - expected) <=
              std::max(rule.atol + rule.rtol * std::abs(expected), rule.max_bound);
      break;
    case CompareKind::kExact:
      match = got == expected && std::signbit(got) == std::signbit(expected);
      break;
    case CompareKind::kUlp:
      match = UlpDistance(rule.dtype, expected, got) <= static_cast<uint64_t>(rule.ulps);
      break;
    case CompareKind::kIndexByValue: match = got == expected; break;
  }
  return match ? ElementVerdict::kMatch : ElementVerdict::kValue;
}

std::vector<int64_t> Unflatten(int64_t flat, std::span<const int64_t> shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

PatternFinder::PatternFinder(std::vector<int64_t> shape)
    : shape_(std::move(shape)), least_(shape_), most_(shape_.size(), -1) {
  for (int64_t size : shape_) elements_ *= size;
}

void PatternFinder::Add(int64_t flat) {
  if (count_ == 0) first_ = flat;
  // Euclid with every gap keeps the widest step that all indices share.
  for (int64_t a = step_, b = count_ == 0 || step_ == 1 ? 0 : flat - last_;;) {
    if (b == 0) {
      step_ = a;
      break;
    }
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  last_ = flat;
  ++count_;
  // In the row of the one before only the last dimension differs: where a whole output is wrong,
  // nearly all are told without a division.
  if (flat < row_end_) {
    most_.back() = std::max(most_.back(), flat - row_begin_);
    least_.back() = std::min(least_.back(), flat - row_begin_);
    return;
  }
  if (!shape_.empty()) {
    row_begin_ = flat - flat % shape_.back();
    row_end_ = row_begin_ + shape_.back();
  }
  int64_t left = flat;
  for (size_t d = shape_.size(); d-- > 0;) {
    const int64_t at = left % shape_[d];
    left /= shape_[d];
    least_[d] = std::min(least_[d], at);
    most_[d] = std::max(most_[d], at);
  }
}

// The wrong elements lie in a box that is full in every dimension but one.
std::string PatternFinder::DescribeBox() const {
  const size_t rank = shape_.size();
  size_t narrow = rank;
  int64_t volume = 1;
  for (size_t d = 0; d < rank; ++d) {
    volume *= most_[d] - least_[d] + 1;
    if (least_[d] == 0 && most_[d] == shape_[d] - 1) continue;
    if (narrow != rank) return "";
    narrow = d;
  }
  if (narrow == rank) return "";
  const bool whole = count_ == volume;
  const bool single = least_[narrow] == most_[narrow];
  // A box with holes is told only where its place alone says much.
  if (!whole && !single) return "";
  const std::string within = whole ? "" : "all within the ";
  const std::string name = DimensionName(narrow, rank);
  if (single) {
    if (most_[narrow] == shape_[narrow] - 1) return within + "last " + name;
    if (least_[narrow] == 0) return within + "first " + name;
    return fmt::format("{}{} {}", within, name, least_[narrow]);
  }
  if (most_[narrow] == shape_[narrow] - 1)
    return fmt::format("{} >= {}", Plural(narrow, rank), least_[narrow]);
  if (least_[narrow] == 0) return fmt::format("{} < {}", Plural(narrow, rank), most_[narrow] + 1);
  return fmt::format("{} {} to {}", Plural(narrow, rank), least_[narrow], most_[narrow]);
}

std::string PatternFinder::Describe() const {
  if (count_ == 0) return "";
  if (count_ == elements_) return elements_ > 1 ? "every element" : "";
  if (std::string box = DescribeBox(); !box.empty()) return box;
  if (count_ > 2 && last_ == elements_ - 1 && count_ == elements_ - first_)
    return fmt::format("everything from flat index {} on", first_);
  if (count_ > 2 && step_ > 1 && count_ == (last_ - first_) / step_ + 1 && first_ < step_ &&
      last_ + step_ >= elements_)
    return fmt::format("every {} element", Ordinal(step_));
  return "";
}

OutputJudge::OutputJudge(const OutputSpec& output, Case timed_case, ElementRule rule,
                         std::vector<int64_t> shape)
    : rule_(rule), shape_(shape), wrong_(std::move(shape)) {
  report_.output = output.name;
  report_.failed_case = std::move(timed_case);
}

void OutputJudge::Measure(double expected, double got, double error) {
  if (error > worst_error_) {
    worst_error_ = error;
    worst_ = at_;
    worst_expected_ = expected;
    worst_got_ = got;
  }
  errors_.sum_squares += error * error;
  errors_.max_abs = std::max(errors_.max_abs, error);
  if (expected != 0)
    report_.max_rel_error = std::max(report_.max_rel_error, error / std::abs(expected));
}

void OutputJudge::Wrong(ElementVerdict verdict, double expected, double got, bool unwritten) {
  if (report_.wrong_elements++ == 0) {
    report_.reason = ReasonName(verdict);
    report_.first_index = Unflatten(at_, shape_);
    report_.expected = expected;
    report_.got = got;
  }
  if (unwritten) ++unwritten_;
  // What cannot be subtracted is the worst there is; the first such place is kept.
  if (verdict == ElementVerdict::kNanMismatch || verdict == ElementVerdict::kInfMismatch) {
    if (worst_error_ < std::numeric_limits<double>::infinity()) {
      worst_error_ = std::numeric_limits<double>::infinity();
      worst_ = at_;
      worst_expected_ = expected;
      worst_got_ = got;
    }
  }
  wrong_.Add(at_);
}

void OutputJudge::Add(const Chunk& chunk) {
  CHECK(chunk.expected.size() == chunk.got.size(), "one expected value an element");
  if (at_ == 0 && !chunk.got.empty()) first_got_ = chunk.got[0];
  const bool values = rule_.kind == CompareKind::kValue;
  const double noticeable = std::max(rule_.max_bound, SmallestNormal(rule_.dtype));
  for (size_t i = 0; i < chunk.got.size(); ++i, ++at_) {
    const double expected = chunk.expected[i], got = chunk.got[i];
    all_zero_ = all_zero_ && got == 0;
    all_same_ = all_same_ && got == first_got_;
    if (std::abs(expected) > noticeable) ++significant_;
    ElementVerdict verdict = JudgeElement(rule_, expected, got);
    if (rule_.kind == CompareKind::kIndexByValue && !chunk.points_at_equal.empty())
      verdict = chunk.points_at_equal[i] ? ElementVerdict::kMatch : ElementVerdict::kValue;
    const double error = std::abs(got - expected);
    if (std::isfinite(error)) Measure(expected, got, error);
    if (values && std::isfinite(expected)) {
      const double tolerance = rule_.atol + rule_.rtol * std::abs(expected);
      sum_tolerance_squares_ += tolerance * tolerance;
      if (error > tolerance) ++outside_tolerance_;
    }
    if (verdict != ElementVerdict::kMatch)
      Wrong(verdict, expected, got, !chunk.unwritten.empty() && chunk.unwritten[i]);
  }
  errors_.elements = static_cast<uint64_t>(at_);
}

void OutputJudge::AddWhole(std::span<const int64_t> expected, std::span<const int64_t> got,
                           std::span<const uint8_t> unwritten) {
  CHECK(expected.size() == got.size(), "one expected value an element");
  if (at_ == 0 && !got.empty()) first_got_ = static_cast<double>(got[0]);
  for (size_t i = 0; i < got.size(); ++i, ++at_) {
    const auto e = static_cast<double>(expected[i]), g = static_cast<double>(got[i]);
    all_zero_ = all_zero_ && got[i] == 0;
    all_same_ = all_same_ && g == first_got_;
    const uint64_t distance =
        got[i] < expected[i] ? static_cast<uint64_t>(expected[i]) - static_cast<uint64_t>(got[i])
                             : static_cast<uint64_t>(got[i]) - static_cast<uint64_t>(expected[i]);
    const auto error = static_cast<double>(distance);
    Measure(e, g, error);
    const double tolerance = rule_.kind == CompareKind::kValue
                                 ? std::max(rule_.atol + rule_.rtol * std::abs(e), rule_.max_bound)
                                 : 0;
    sum_tolerance_squares_ += tolerance * tolerance;
    if (error > tolerance) Wrong(ElementVerdict::kValue, e, g, !unwritten.empty() && unwritten[i]);
  }
  errors_.elements = static_cast<uint64_t>(at_);
}

std::optional<WrongOutputReport> OutputJudge::Finish() {
  const auto elements = static_cast<uint64_t>(at_);
  const double tolerance_rms =
      elements == 0 ? 0 : std::sqrt(sum_tolerance_squares_ / static_cast<double>(elements));
  const bool floating = IsFloating(rule_.dtype);
  const bool zeros = elements > 0 && all_zero_ && floating && significant_ > 0;
  if (report_.wrong_elements == 0) {
    const bool values = rule_.kind == CompareKind::kValue;
    // A hair of slack: both sides are sums of rounded squares.
    if (values && errors_.rms() > 1.0000001 * std::max(rule_.rms_bound, tolerance_rms)) {
      report_.reason = "error_bound";
      report_.wrong_elements = outside_tolerance_;
    } else if (values && zeros) {
      report_.reason = "value";
      report_.wrong_elements = significant_;
    } else {
      return std::nullopt;
    }
    report_.first_index = Unflatten(worst_, shape_);
    report_.expected = worst_expected_;
    report_.got = worst_got_;
  }
  report_.elements = elements;
  report_.max_abs_error = errors_.max_abs;
  report_.rms_error = errors_.rms();
  if (worst_ >= 0) {
    report_.worst_index = Unflatten(worst_, shape_);
    report_.worst_expected = worst_expected_;
    report_.worst_got = worst_got_;
  }
  const std::string where = wrong_.Describe();
  if (unwritten_ > 0 && unwritten_ == report_.wrong_elements)
    report_.pattern = where.empty() ? "never written" : "never written: " + where;
  else if (zeros)
    report_.pattern = "all zero";
  else if (elements > 1 && all_same_)
    report_.pattern = "all the same value";
  else
    report_.pattern = where;
  return report_;
}

}  // namespace warpsmith
