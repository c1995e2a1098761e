#include "worker/judgement/statistics.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace warpsmith {
namespace {

double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// P(W <= w) and P(W >= w) need the number of sign patterns by rank sum. Ranks are doubled, so that
// shared ranks (x.5) are whole numbers too.
double ExactSignedRank(const std::vector<int>& doubled_ranks, int doubled_plus) {
  int total = 0;
  for (int rank : doubled_ranks) total += rank;
  std::vector<double> ways(static_cast<size_t>(total) + 1, 0);
  ways[0] = 1;
  for (int rank : doubled_ranks)
    for (int sum = total; sum >= rank; --sum)
      ways[static_cast<size_t>(sum)] += ways[static_cast<size_t>(sum - rank)];
  double below = 0, above = 0, all = 0;
  for (int sum = 0; sum <= total; ++sum) {
    const double count = ways[static_cast<size_t>(sum)];
    all += count;
    if (sum <= doubled_plus) below += count;
    if (sum >= doubled_plus) above += count;
  }
  return std::min(1.0, 2 * std::min(below, above) / all);
}

double RelativeSpread(std::span<const double> values) {
  if (values.size() < 3) return 0;
  const double middle = Median({values.begin(), values.end()});
  return middle > 0 ? RobustSigma(values) / middle : 0;
}

// The run at `position` by the median of the others, one ratio a block, ascending.
std::vector<double> AgainstOthers(std::span<const std::vector<double>> blocks, size_t position,
                                  double resolution_us) {
  std::vector<double> ratios;
  for (const auto& runs : blocks) {
    if (runs.size() < 2 || position >= runs.size()) continue;
    std::vector<double> rest = runs;
    rest.erase(rest.begin() + static_cast<ptrdiff_t>(position));
    const double run = runs[position], others = Median(std::move(rest));
    // The resolution is given to the shorter side: what scatter could explain is no evidence.
    if (run >= others)
      ratios.push_back(run / std::min(run, others + resolution_us));
    else
      ratios.push_back(std::min(others, run + resolution_us) / others);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

}  // namespace

double Median(std::vector<double> values) {
  CHECK(!values.empty(), "a median needs values");
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double GeometricMean(std::span<const double> values) {
  CHECK(!values.empty(), "a mean needs values");
  double sum = 0;
  for (double value : values) {
    CHECK(value > 0, "a geometric mean needs positive values");
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

double RobustSigma(std::span<const double> values) {
  const double middle = Median({values.begin(), values.end()});
  std::vector<double> deviations;
  for (double value : values) deviations.push_back(std::abs(value - middle));
  return 1.4826 * Median(std::move(deviations));
}

Interval BootstrapMedian(std::span<const double> samples, double confidence, Random& random,
                         int resamples) {
  CHECK(!samples.empty(), "an interval needs samples");
  const size_t n = samples.size();
  Interval interval;
  interval.middle = Median({samples.begin(), samples.end()});
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  interval.low = *least;
  interval.high = *most;
  if (1 - std::exp2(1 - static_cast<double>(n)) < confidence) return interval;
  std::vector<double> medians;
  std::vector<double> drawn(n);
  for (int r = 0; r < resamples; ++r) {
    for (double& value : drawn) value = samples[random.Below(n)];
    medians.push_back(Median(drawn));
  }
  std::sort(medians.begin(), medians.end());
  interval.low = Quantile(medians, (1 - confidence) / 2);
  interval.high = Quantile(medians, (1 + confidence) / 2);
  interval.known = true;
  return interval;
}

double WilcoxonSignedRank(std::span<const double> samples) {
  std::vector<double> values;
  for (double sample : samples)
    if (sample != 0) values.push_back(sample);
  const size_t n = values.size();
  if (n == 0) return 1;
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<int> doubled(n);
  double ties = 0;
  for (size_t begin = 0; begin < n;) {
    size_t end = begin + 1;
    while (end < n && std::abs(values[end]) == std::abs(values[begin])) ++end;
    for (size_t i = begin; i < end; ++i) doubled[i] = static_cast<int>(begin + end + 1);
    const auto size = static_cast<double>(end - begin);
    ties += size * size * size - size;
    begin = end;
  }
  int plus = 0;
  for (size_t i = 0; i < n; ++i)
    if (values[i] > 0) plus += doubled[i];
  if (n <= 25) return ExactSignedRank(doubled, plus);
  const auto count = static_cast<double>(n);
  const double mean = count * (count + 1) / 4;
  const double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
  const double distance = std::max(0.0, std::abs(plus / 2.0 - mean) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

double AaNoise(std::span<const double> baseline_us, size_t blocks) {
  if (baseline_us.size() < 3 || blocks == 0) return 0;
  std::vector<double> differences;
  for (size_t i = 1; i < baseline_us.size(); ++i)
    differences.push_back(std::abs(std::log(baseline_us[i] / baseline_us[i - 1])));
  // |difference| of two normal logs has median 0.6745 * sqrt(2) * sigma; a ratio of two roles has
  // sqrt(2) * sigma too, and the median of n of them 1.2533 of that by sqrt(n).
  const double ratio_sigma = Median(std::move(differences)) / 0.6745;
  return 1.96 * 1.2533 * ratio_sigma / std::sqrt(static_cast<double>(blocks));
}

Comparison Compare(const Interval& log_ratio, double wilcoxon_p, double noise) {
  const double margin = std::log1p(std::max(0.01, 3 * noise));
  if (!log_ratio.known || wilcoxon_p >= 0.05) return Comparison::kTie;
  if (log_ratio.low > margin) return Comparison::kFaster;
  if (log_ratio.high < -margin) return Comparison::kSlower;
  return Comparison::kTie;
}

double ScoredSpeedup(Comparison comparison, double speedup) {
  return comparison == Comparison::kTie ? 1 : speedup;
}

bool BlockIsVoid(double baseline_us, double free_median_us, double free_sigma_us, double slack_us) {
  const double allowed = std::max(0.02 * free_median_us, 3 * free_sigma_us) + slack_us;
  return std::abs(baseline_us - free_median_us) > allowed;
}

bool CandidateLeads(Random& random) { return (random.Bits() & 1) != 0; }

Validity JudgeValidity(const ValidityEvidence& evidence, const NoiseRule& rule) {
  double slowest = 0, fastest = 0;
  bool unseen = evidence.clocks_mhz.empty();
  for (double clock : evidence.clocks_mhz) {
    if (clock <= 0) {
      unseen = true;
      continue;
    }
    slowest = slowest == 0 ? clock : std::min(slowest, clock);
    fastest = std::max(fastest, clock);
  }
  if (evidence.mode == ClockMode::kLocked && unseen) return Validity::kClocksUnverified;
  if (slowest > 0 && (fastest - slowest) / fastest > 0.03) return Validity::kThrottled;
  if (evidence.candidate_us.empty() || evidence.void_blocks > evidence.candidate_us.size())
    return Validity::kNoisy;
  if (evidence.noise > rule.most_noise && !(rule.decided_excuses_noise && evidence.decided))
    return Validity::kNoisy;
  if (RelativeSpread(evidence.candidate_us) > rule.most_spread ||
      RelativeSpread(evidence.baseline_us) > rule.most_spread)
    return Validity::kNoisy;
  return Validity::kValid;
}

std::optional<size_t> UnevenPosition(std::span<const std::vector<double>> candidate,
                                     std::span<const std::vector<double>> baseline,
                                     const UnevenRule& rule) {
  size_t runs = 0;
  for (const auto& block : candidate) runs = std::max(runs, block.size());
  for (size_t position = 0; position < runs; ++position) {
    const auto ratios = AgainstOthers(candidate, position, rule.resolution_us);
    if (ratios.size() < std::max<size_t>(rule.least_blocks, 1)) continue;
    const auto exceptions = [&](size_t blocks) {
      return std::min(blocks - 1,
                      static_cast<size_t>((1 - rule.agreeing) * static_cast<double>(blocks)));
    };
    // What all blocks but the exceptions show, and what all of the baseline's stay within.
    const size_t out = exceptions(ratios.size());
    const double least = ratios[out], most = ratios[ratios.size() - 1 - out];
    double baseline_least = 1, baseline_most = 1;
    if (const auto even = AgainstOthers(baseline, position, rule.resolution_us); !even.empty()) {
      const size_t baseline_out = exceptions(even.size());
      baseline_least = std::min(1.0, even[baseline_out]);
      baseline_most = std::max(1.0, even[even.size() - 1 - baseline_out]);
    }
    if (least >= rule.factor * baseline_most || most <= baseline_least / rule.factor)
      return position;
  }
  return std::nullopt;
}

const char* ToString(StopReason reason) {
  switch (reason) {
    case StopReason::kGoOn: return "go_on";
    case StopReason::kPrecise: return "precise";
    case StopReason::kClear: return "clear";
    case StopReason::kHopeless: return "hopeless";
    case StopReason::kMaxBlocks: return "max_blocks";
    case StopReason::kBudget: return "budget";
  }
  return "unknown";
}

HalfWidthCriterion::HalfWidthCriterion(const StoppingOptions& options, uint64_t seed)
    : options_(options), random_(seed), next_look_(std::max<size_t>(options.min_blocks, 1)) {
  int looks = 1;
  for (size_t at = next_look_ * 2; at <= options.max_blocks; at *= 2) ++looks;
  confidence_ = 1 - 0.05 / looks;
}

StopReason HalfWidthCriterion::Decide(const StoppingState& state) {
  const size_t n = state.log_ratios.size();
  if (n >= next_look_) {
    next_look_ *= 2;
    const Interval interval = BootstrapMedian(state.log_ratios, confidence_, random_);
    const double width = interval.half_width();
    if (interval.known && width <= options_.target_half_width) return StopReason::kPrecise;
    if (interval.known && options_.clearly_slower > 0 &&
        interval.high < std::log(options_.clearly_slower))
      return StopReason::kClear;
    const double ratio = width / options_.target_half_width;
    const double needed = static_cast<double>(n) * ratio * ratio;
    if (interval.known && needed > 4.0 * static_cast<double>(options_.max_blocks))
      return StopReason::kHopeless;
  }
  // Void blocks count here, so that a disturbed machine cannot hold a measurement for ever.
  if (state.blocks_run >= options_.max_blocks) return StopReason::kMaxBlocks;
  // A slow machine gets the time that the least number of blocks takes, within reason.
  const Duration budget = options_.budget * (n < options_.min_blocks ? 4 : 1);
  if (state.spent >= budget) return StopReason::kBudget;
  return StopReason::kGoOn;
}

}  // namespace warpsmith
