// Statistics of a timing, free of any device: numbers in, decisions out.
//
// The unit is a block: candidate and baseline each run on the same content, in randomised order; a
// block's sample is log(baseline time / candidate time). Medians and bootstrap percentiles are used
// because timings have heavy right tails. All functions are pure; randomness comes in as `Random`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/clock.h"
#include "common/base/random.h"
#include "schema/outcome.h"

namespace warpsmith {

// `values` not empty. The mean of the middle two where there are two.
double Median(std::vector<double> values);
// exp(mean log); `values` not empty, all positive.
double GeometricMean(std::span<const double> values);
// 1.4826 * median |x - median|: the standard deviation of a normal sample, deaf to outliers.
double RobustSigma(std::span<const double> values);

struct Interval {
  double low = 0;
  double middle = 0;  // the sample median
  double high = 0;
  bool known = false;  // false: too few samples to say anything at this confidence
  double half_width() const { return (high - low) / 2; }
};

// Percentile bootstrap of the median (Efron 1979). The widest interval that n samples can give,
// [min, max], covers the median with 1 - 2^(1-n): below `confidence` that is not `known`, and low
// and high are the extremes. Never NaN, never throws; `samples` not empty.
Interval BootstrapMedian(std::span<const double> samples, double confidence, Random& random,
                         int resamples = 1000);

// Two-sided Wilcoxon signed-rank test that `samples` are symmetric about 0 (Wilcoxon 1945). Zeros
// are dropped, ties share ranks; exact up to 25 samples, then normal with continuity correction. 1
// where nothing can be said.
double WilcoxonSignedRank(std::span<const double> samples);

// A/A noise: the relative half-width (95 %) that the median of `blocks` log ratios would have if
// nothing but the baseline's own scatter were in them, from baseline times in the order they ran.
// Successive differences, so that slow drift does not count. 0: unknown (fewer than 3 times).
double AaNoise(std::span<const double> baseline_us, size_t blocks);

// FASTER or SLOWER only when the interval of the log ratio clears max(1 %, 3 * noise) and the
// signed ranks agree (p < 0.05); everything else, an unknown interval included, is a TIE.
Comparison Compare(const Interval& log_ratio, double wilcoxon_p, double noise);

// What a tie is worth is 1, whatever its median.
double ScoredSpeedup(Comparison comparison, double speedup);

// A block is void if the baseline strays from its candidate-free time by more than max(2 %, 3
// sigma) and `slack_us`: what handing over to any other process may cost it, however innocent.
bool BlockIsVoid(double baseline_us, double free_median_us, double free_sigma_us, double slack_us);

// True: the candidate goes first and last, the baseline twice in between (ABBA); false: the other
// way.
bool CandidateLeads(Random& random);

struct ValidityEvidence {
  std::span<const double> candidate_us;  // blocks that count
  std::span<const double> baseline_us;
  size_t void_blocks = 0;
  double noise = 0;                    // of AaNoise
  bool decided = false;                // the comparison is no tie, for all the noise
  std::span<const double> clocks_mhz;  // seen while the candidate ran; zeros are unknown
  ClockMode mode = ClockMode::kObserved;
};
// What makes a measurement too noisy to count.
struct NoiseRule {
  double most_spread = 0.05;  // robust spread of a role's blocks, relative
  double most_noise = 0.03;   // A/A, beyond which a tie would hide almost anything
  // A comparison that is decided for all the noise hides nothing.
  bool decided_excuses_noise = false;
};
// Noisy: past the rule, or more blocks were void than counted. Throttled: the SM clock moved by
// over 3 % between blocks. Clocks unverified: mode `locked` and nobody saw the clock.
Validity JudgeValidity(const ValidityEvidence& evidence, const NoiseRule& rule);

// What makes a candidate uneven. A violation is a verdict on its author, so the machine must have
// no part in it: whatever takes a core away for a moment makes single runs long, here and there.
struct UnevenRule {
  double factor = 3;         // between a run and the block's others
  double resolution_us = 2;  // what the clock, or a cold path of the system, may add to one run
  size_t least_blocks = 4;   // to tell at all
  double agreeing = 0.75;    // share of the blocks that must show it, in the same position
};

// The position in a block whose run takes `factor` times the block's others, or they it, in at
// least `agreeing` of the blocks, and beyond what the baseline's own runs do in that position.
// Nothing: even. `blocks` hold the times of each run of a block in the order they ran.
std::optional<size_t> UnevenPosition(std::span<const std::vector<double>> candidate,
                                     std::span<const std::vector<double>> baseline,
                                     const UnevenRule& rule);

// When to stop measuring. Seam: tests use their own.
enum class StopReason {
  kGoOn,
  kPrecise,   // the interval is narrow enough
  kClear,     // the candidate is slower by far, however wide the interval
  kHopeless,  // it would take several times the allowed blocks
  kMaxBlocks,
  kBudget,  // time is up
};
const char* ToString(StopReason reason);

struct StoppingState {
  std::span<const double> log_ratios;  // of the blocks that count
  size_t blocks_run = 0;               // void ones included
  Duration spent{};
};

class StoppingCriterion {
 public:
  virtual ~StoppingCriterion() = default;
  virtual StopReason Decide(const StoppingState& state) = 0;
  // Two-sided, what one look must use so that all looks together keep 95 %.
  virtual double confidence() const = 0;
};

struct StoppingOptions {
  double target_half_width = 0.02;  // of the median log ratio
  double clearly_slower = 0;        // a speed-up, 0: none; an interval below it needs no precision
  size_t min_blocks = 6;
  size_t max_blocks = 24;
  Duration budget = std::chrono::seconds(1);  // once min_blocks count; four times it before
};

// Looks at min, 2 min, 4 min ... blocks only, and shares 5 % among these looks (Bonferroni).
// Bounded whatever the noise, and content with two samples.
class HalfWidthCriterion : public StoppingCriterion {
 public:
  HalfWidthCriterion(const StoppingOptions& options, uint64_t seed);
  StopReason Decide(const StoppingState& state) override;
  double confidence() const override { return confidence_; }

 private:
  StoppingOptions options_;
  Random random_;
  double confidence_;
  size_t next_look_;
};

}  // namespace warpsmith
