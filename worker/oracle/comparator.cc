#include "worker/oracle/comparator.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "worker/oracle/torch_values.h"

namespace warpsmith {
namespace {

constexpr int64_t kChunk = int64_t{1} << 22;      // elements: 32 MiB of doubles a temporary
constexpr int64_t kWideChunk = int64_t{1} << 25;  // where temporaries are few

Result<bool> NoDifference(const std::exception& exception) {
  return Wrap(FromException(exception), "comparing outputs");
}

template <typename T>
std::span<const T> SpanOf(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), static_cast<size_t>(tensor.numel())};
}

at::Tensor Flat(const at::Tensor& tensor) { return tensor.reshape({-1}); }

at::Tensor OnHost(const at::Tensor& tensor, at::ScalarType type) {
  return tensor.to(at::kCPU, type).contiguous();
}

bool IsWhole(const at::Tensor& tensor) {
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
}

// Both sides in the form in which the rule compares: chunk of expected values as doubles.
at::Tensor ExpectedChunk(const Comparand& c, const at::Tensor& flat, int64_t begin, int64_t count,
                         at::ScalarType output) {
  at::Tensor chunk = flat.narrow(0, begin, count);
  // Ulps and bits are those of the output's own type.
  if (c.rule.kind == CompareKind::kUlp || c.rule.kind == CompareKind::kExact)
    chunk = chunk.to(output);
  return chunk.to(at::kDouble);
}

// 1 where a wrong element still holds the very bytes of the poison.
at::Tensor SameBits(const at::Tensor& a, const at::Tensor& b) {
  switch (a.element_size()) {
    case 8: return a.view(at::kLong) == b.view(at::kLong);
    case 4: return a.view(at::kInt) == b.view(at::kInt);
    case 2: return a.view(at::kShort) == b.view(at::kShort);
    default: return a.view(at::kChar) == b.view(at::kChar);
  }
}

// The representable numbers of a floating type of at most 32 bits as whole numbers, neighbours one
// apart, both zeros 0.
at::Tensor OnALine(const at::Tensor& tensor) {
  const bool wide = tensor.element_size() == 4;
  const at::Tensor bits = tensor.view(wide ? at::kInt : at::kShort).to(at::kLong);
  const at::Tensor magnitude = bits.bitwise_and(wide ? 0x7FFFFFFF : 0x7FFF);
  return at::where(bits < 0, magnitude.neg(), magnitude);
}

// 1 where an element is right by its bits (kExact) or to some ulps; both of the output's own dtype.
at::Tensor RightByBits(const ElementRule& rule, const at::Tensor& expected, const at::Tensor& got) {
  const at::Tensor nan = got.isnan();
  at::Tensor right;
  if (rule.kind == CompareKind::kUlp) {
    right = (OnALine(got) - OnALine(expected)).abs() <= rule.ulps;
    right &= got.isfinite() & expected.isfinite();
    right |= got == expected;
  } else {
    right = SameBits(got, expected) & nan.logical_not();
  }
  if (rule.equal_nan) right |= nan & expected.isnan();
  return right;
}

// 1 where the index got is in range, points at the same value as the expected one, and is not named
// twice in its row.
at::Tensor PointsAtEqual(const Comparand& c) {
  const at::Tensor& values = TensorOf(*c.pointed, c.pointed_index);
  const at::Tensor& got = TensorOf(*c.got, c.got_index);
  const at::Tensor& expected = TensorOf(*c.expected, c.expected_index);
  const int64_t width = values.dim() > 0 ? values.size(-1) : values.numel();
  if (width == 0 || got.numel() == 0)
    return at::zeros({got.numel()}, got.options().dtype(at::kBool));
  const int64_t rows = values.numel() / width;
  const at::Tensor table = values.reshape({rows, width});
  const at::Tensor mine = got.reshape({rows, -1}).to(at::kLong);
  const at::Tensor theirs = expected.reshape({rows, -1}).to(at::kLong);
  const at::Tensor valid = (mine >= 0) & (mine < width);
  const at::Tensor a = table.gather(1, mine.clamp(0, width - 1));
  const at::Tensor b = table.gather(1, theirs.clamp(0, width - 1));
  at::Tensor equal = valid & ((a == b) | ((a != a) & (b != b)));
  if (mine.size(1) > 1) {
    const at::Tensor sorted = std::get<0>(mine.sort(1));
    const at::Tensor twice =
        (sorted.narrow(1, 1, mine.size(1) - 1) == sorted.narrow(1, 0, mine.size(1) - 1))
            .any(1, /*keepdim=*/true);
    equal = equal & (~twice | (mine == theirs));
  }
  return Flat(equal);
}

// Values below this are no evidence against an output of zeros.
double NoticeableOf(const ElementRule& rule) {
  const double least = rule.dtype == Dtype::kFloat64
                           ? std::numeric_limits<double>::min()
                           : static_cast<double>(std::numeric_limits<float>::min());
  return std::max(rule.max_bound, least);
}

// All elements are right; whether they are as a whole. False: the exact definition settles it.
bool PassesAsAWhole(const ElementRule& rule, const ValueSums& sums, int64_t elements) {
  if (elements == 0) return true;
  const auto n = static_cast<double>(elements);
  return std::sqrt(sums.error_squares / n) <=
             std::max(rule.rms_bound, std::sqrt(sums.tolerance_squares / n)) &&
         (sums.nonzero || !sums.noticeable);
}

// The quick pass over one chunk of values: true if all are right; adds to the sums.
bool ChunkPasses(const ElementRule& rule, const at::Tensor& expected, const at::Tensor& got,
                 double noticeable, ValueSums& sums) {
  const at::Tensor error = (got - expected).abs();
  const at::Tensor size = expected.abs();
  const at::Tensor tolerance = size.mul(rule.rtol).add_(rule.atol);
  // A NaN compares false; an infinite expectation would make its tolerance infinite too.
  at::Tensor right = (error <= tolerance.clamp_min(rule.max_bound)) & expected.isfinite();
  right |= got == expected;
  if (rule.equal_nan) right |= got.isnan() & expected.isnan();
  if (!right.all().item<bool>()) return false;
  const at::Tensor finite = expected.isfinite();
  sums.error_squares += at::where(finite, error, 0).square_().sum().item<double>();
  sums.tolerance_squares += at::where(finite, tolerance, 0).square_().sum().item<double>();
  if (!sums.nonzero) sums.nonzero = got.ne(0).any().item<bool>();
  if (!sums.noticeable) sums.noticeable = (size > noticeable).any().item<bool>();
  return true;
}

// Nothing: not a dense tensor of a floating dtype.
std::optional<FloatingView> FloatingViewOf(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) return std::nullopt;
  for (const Dtype dtype : {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16})
    if (tensor.scalar_type() == ScalarTypeOf(dtype))
      return FloatingView{tensor.const_data_ptr(), dtype, tensor.numel()};
  return std::nullopt;
}

// In one pass on the device; nothing: that is not for it to say.
Result<std::optional<bool>> PassesInOnePass(const Comparand& c) {
  if (c.device == nullptr || c.rule.kind != CompareKind::kValue) return std::nullopt;
  const auto got = FloatingViewOf(TensorOf(*c.got, c.got_index));
  const auto expected = FloatingViewOf(TensorOf(*c.expected, c.expected_index));
  if (!got || !expected || got->elements != expected->elements) return std::nullopt;
  const ValueRule rule{.rtol = c.rule.rtol,
                       .atol = c.rule.atol,
                       .max_bound = c.rule.max_bound,
                       .noticeable = NoticeableOf(c.rule),
                       .equal_nan = c.rule.equal_nan};
  ASSIGN_OR_RETURN(const ValueSums sums, c.device->CompareValues(*got, *expected, rule));
  if (sums.wrong) return false;
  if (PassesAsAWhole(c.rule, sums, got->elements)) return true;
  ASSIGN_OR_RETURN(const auto report, Report(c));
  return !report;
}

}  // namespace

Result<ErrorStats> ErrorsOf(const Values& got, const Values& exact, size_t index) {
  c10::InferenceMode inference;
  try {
    const at::Tensor a = Flat(TensorOf(got, index)), b = Flat(TensorOf(exact, index));
    ErrorStats stats;
    stats.elements = static_cast<uint64_t>(a.numel());
    for (int64_t begin = 0; begin < a.numel(); begin += kChunk) {
      const int64_t count = std::min(kChunk, a.numel() - begin);
      at::Tensor error =
          a.narrow(0, begin, count).to(at::kDouble) - b.narrow(0, begin, count).to(at::kDouble);
      error = at::where(error.isfinite(), error, 0).abs_();
      stats.max_abs = std::max(stats.max_abs, error.max().item<double>());
      stats.sum_squares += error.square_().sum().item<double>();
    }
    return stats;
  } catch (const std::exception& exception) {
    return Wrap(FromException(exception), "comparing outputs");
  }
}

Result<bool> PassesByTensors(const Comparand& c) {
  c10::InferenceMode inference;
  try {
    const at::Tensor got = Flat(TensorOf(*c.got, c.got_index));
    const at::Tensor expected = Flat(TensorOf(*c.expected, c.expected_index));
    if (c.rule.kind == CompareKind::kIndexByValue) return PointsAtEqual(c).all().item<bool>();
    if (IsWhole(got) && IsWhole(expected) && c.rule.kind == CompareKind::kExact)
      return at::equal(got, expected.to(got.scalar_type()));
    if (c.rule.kind == CompareKind::kUlp && got.element_size() > 4) {
      // A line of 64-bit numbers has no room for differences.
      ASSIGN_OR_RETURN(const auto report, Report(c));
      return !report;
    }
    if (c.rule.kind != CompareKind::kValue) {
      for (int64_t begin = 0; begin < got.numel(); begin += kWideChunk) {
        const int64_t count = std::min(kWideChunk, got.numel() - begin);
        const at::Tensor rounded = expected.narrow(0, begin, count).to(got.scalar_type());
        if (!RightByBits(c.rule, rounded, got.narrow(0, begin, count)).all().item<bool>())
          return false;
      }
      return true;
    }
    ValueSums sums;
    const double noticeable = NoticeableOf(c.rule);
    for (int64_t begin = 0; begin < got.numel(); begin += kChunk) {
      const int64_t count = std::min(kChunk, got.numel() - begin);
      if (!ChunkPasses(c.rule, ExpectedChunk(c, expected, begin, count, got.scalar_type()),
                       got.narrow(0, begin, count).to(at::kDouble), noticeable, sums))
        return false;
    }
    if (PassesAsAWhole(c.rule, sums, got.numel())) return true;
    ASSIGN_OR_RETURN(const auto report, Report(c));
    return !report;
  } catch (const std::exception& exception) {
    return NoDifference(exception);
  }
}

Result<std::optional<WrongOutputReport>> Report(const Comparand& c) {
  c10::InferenceMode inference;
  try {
    const at::Tensor& whole = TensorOf(*c.got, c.got_index);
    const at::Tensor got = Flat(whole), expected = Flat(TensorOf(*c.expected, c.expected_index));
    OutputJudge judge(*c.spec, c.timed_case, c.rule, whole.sizes().vec());
    const bool by_whole =
        IsWhole(got) && IsWhole(expected) &&
        (c.rule.kind == CompareKind::kExact || c.rule.kind == CompareKind::kValue);
    const bool by_index = c.rule.kind == CompareKind::kIndexByValue;
    const at::Tensor equal = by_index ? PointsAtEqual(c) : at::Tensor();
    for (int64_t begin = 0; begin < got.numel(); begin += kChunk) {
      const int64_t count = std::min(kChunk, got.numel() - begin);
      const at::Tensor chunk = got.narrow(0, begin, count);
      at::Tensor unwritten, points;
      if (c.poison != nullptr)
        unwritten = OnHost(SameBits(chunk, Flat(TensorOf(*c.poison, 0)).narrow(0, begin, count)),
                           at::kByte);
      if (by_index) points = OnHost(equal.narrow(0, begin, count), at::kByte);
      const std::span<const uint8_t> never =
          unwritten.defined() ? SpanOf<uint8_t>(unwritten) : std::span<const uint8_t>{};
      if (by_whole) {
        const at::Tensor e = OnHost(expected.narrow(0, begin, count), at::kLong);
        const at::Tensor g = OnHost(chunk, at::kLong);
        judge.AddWhole(SpanOf<int64_t>(e), SpanOf<int64_t>(g), never);
        continue;
      }
      const at::Tensor e =
          OnHost(ExpectedChunk(c, expected, begin, count, got.scalar_type()), at::kDouble);
      const at::Tensor g = OnHost(chunk, at::kDouble);
      judge.Add(
          {.expected = SpanOf<double>(e),
           .got = SpanOf<double>(g),
           .unwritten = never,
           .points_at_equal = by_index ? SpanOf<uint8_t>(points) : std::span<const uint8_t>{}});
    }
    return judge.Finish();
  } catch (const std::exception& exception) {
    return Wrap(FromException(exception), "comparing outputs");
  }
}

Result<bool> Passes(const Comparand& c) {
  ASSIGN_OR_RETURN(const std::optional<bool> passes, PassesInOnePass(c));
  if (passes) return *passes;
  if (TensorOf(*c.got, c.got_index).is_cpu()) {
    // One pass of plain code is quicker than a dozen tensor operations.
    ASSIGN_OR_RETURN(const auto report, Report(c));
    return !report;
  }
  return PassesByTensors(c);
}

}  // namespace warpsmith
