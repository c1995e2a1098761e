#include "learner/core/ppo.h"

#include <algorithm>
#include <cmath>

namespace warpsmith {

PpoTerm Ppo(const Algorithm& algorithm, double now, double proximal, double behaviour,
            double advantage) {
  PpoTerm term;
  term.ratio = std::exp(now - proximal);
  term.weight = std::min(std::exp(proximal - behaviour), algorithm.importance_cap);
  const double low = 1 - algorithm.clip_low, high = 1 + algorithm.clip_high;
  const double plain = term.ratio * advantage;
  const double bounded = std::clamp(term.ratio, low, high) * advantage;
  term.clipped = bounded < plain;
  term.objective = term.weight * std::min(plain, bounded);
  // d ratio / d now = ratio.
  term.slope = term.clipped ? 0 : term.weight * plain;
  return term;
}

double KlSample(double now, double behaviour) {
  const double log_ratio = now - behaviour;
  return std::expm1(log_ratio) - log_ratio;
}

}  // namespace warpsmith
