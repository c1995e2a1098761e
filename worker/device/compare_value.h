// One element of a floating output against what it should be: the same text for the host (g++) and
// for CUDA (NVRTC). It is the definition of worker/judgement/verdict.h for CompareKind::kValue
// without the report: an element is right if it is within max(atol + rtol * |expected|, max_bound);
// NaN (where `equal_nan`) and infinities match in place. Pure. All arithmetic in doubles, which
// hold every value of every floating dtype; compile without contraction of multiply-adds.
#pragma once

#ifdef __CUDACC_RTC__
#define WARPSMITH_COMPARE __device__ inline
#else
#define WARPSMITH_COMPARE inline __attribute__((always_inline))
#endif

namespace warpsmith {

struct ValueRule {
  double rtol = 0;
  double atol = 0;
  double max_bound = 0;
  double noticeable = 0;  // expected values beyond it count as no zeros
  int equal_nan = 0;
  int unused = 0;
};

// Sums over elements; their order changes the last bits alone. Flags are 0 or 1.
struct ValueSums {
  double error_squares = 0;      // over finite expected values
  double tolerance_squares = 0;  // likewise, of atol + rtol * |expected|
  int wrong = 0;                 // some element is
  int nonzero = 0;               // some element got is
  int noticeable = 0;            // some expected value is
  int unused = 0;
};

WARPSMITH_COMPARE double Magnitude(double x) { return x < 0 ? -x : x; }

WARPSMITH_COMPARE void CompareValue(const ValueRule& rule, double expected, double got,
                                    ValueSums& sums) {
  constexpr double kLargest = 1.7976931348623157e308;
  const double size = Magnitude(expected), error = Magnitude(got - expected);
  const double tolerance = size * rule.rtol + rule.atol;
  const double bound = tolerance > rule.max_bound ? tolerance : rule.max_bound;
  // A NaN compares false; an infinite expectation would make its tolerance infinite too.
  const bool finite = size <= kLargest, plain = finite & (Magnitude(got) <= kLargest);
  const bool both_nan = (got != got) & (expected != expected);
  const bool right =
      (plain & (error <= bound)) | (got == expected) | (both_nan & (rule.equal_nan != 0));
  // Where a finite value is expected, a NaN or an infinity is wrong anyway.
  const double counted_error = plain ? error : 0, counted_tolerance = finite ? tolerance : 0;
  sums.error_squares += counted_error * counted_error;
  sums.tolerance_squares += counted_tolerance * counted_tolerance;
  sums.wrong |= !right;
  sums.nonzero |= got != 0;
  sums.noticeable |= size > rule.noticeable;
}

WARPSMITH_COMPARE void AddSums(ValueSums& to, const ValueSums& from) {
  to.error_squares += from.error_squares;
  to.tolerance_squares += from.tolerance_squares;
  to.wrong |= from.wrong;
  to.nonzero |= from.nonzero;
  to.noticeable |= from.noticeable;
}

}  // namespace warpsmith
