// The objective of one chosen id, and its derivative. Pure numbers; the network only differentiates
// log-probabilities.
//
// Decoupled PPO (Hilton, Cobbe, Schulman: "Batch size-invariance for policy optimization", 2022;
// for asynchronous rollouts: Fu et al., "AReaL", 2025). Three policies: `behaviour` sampled the id,
// `proximal` is the policy when the step began, `now` is being trained.
//
//   weight    = min(exp(proximal - behaviour), importance_cap)         corrects for stale sampling
//   ratio     = exp(now - proximal)                                    how far this step has gone
//   objective = weight * min(ratio * A, clip(ratio, 1 - clip_low, 1 + clip_high) * A)
//
// On policy (behaviour = proximal) this is plain PPO. behaviour is the log-probability stored at
// sampling, never one computed again.
#pragma once

#include "common/model/run.h"

namespace warpsmith {

struct PpoTerm {
  double ratio = 1;      // exp(now - proximal)
  double weight = 1;     // truncated importance weight
  double objective = 0;  // to be maximised
  double slope = 0;      // d objective / d now; 0 where clipped
  bool clipped = false;
};

// Log-probabilities in nats.
PpoTerm Ppo(const Algorithm& algorithm, double now, double proximal, double behaviour,
            double advantage);

// An estimate of KL(behaviour || now) from one sample that is never negative: r - 1 - log r with
// r = exp(now - behaviour) (Schulman, "Approximating KL divergence", 2020).
double KlSample(double now, double behaviour);

}  // namespace warpsmith
