// Trains a grammar policy's network: one Step a batch of trajectories. Decoupled PPO
// (learner/core/ppo.h) on advantages of the run's estimator (learner/core/advantages.h), Adam,
// gradients clipped by norm. Thread-compatible. Deterministic: the same spec, seed, files and
// batches give the same weights, bit for bit on one machine; it computes on the CPU with one thread
// (the process's torch setting).
#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/model/run.h"
#include "common/model/trajectory.h"
#include "policy/core/family.h"
#include "schema/learner.h"

namespace warpsmith {

struct TrainerStep {
  StepReport report;        // step: how many steps this trainer has made, over all its lives
  int updates = 0;          // gradient steps taken
  int skipped_updates = 0;  // left out because loss or gradient was not finite
};

class Trainer {
 public:
  // Fresh weights: the policy starts uniform. kInvalidInput: the spec's policy has nothing to
  // train, or its algorithm names what does not exist.
  static Result<Trainer> Init(const RunSpec& spec, uint64_t seed);
  // With a table of families other than the program's.
  static Result<Trainer> Init(const RunSpec& spec, uint64_t seed,
                              std::span<const Family* const> families);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  // Goes on from a file that Save wrote: weights, optimiser and step count. kCorrupt or
  // kInvalidInput (another grammar's weights) leave the trainer as it was.
  Status Load(const std::string& path);

  // One batch. Turns that cannot be learned from are left out: infrastructure, unknown tasks, ids
  // of another grammar, no peers in the batch. A batch with nothing left makes a step with no
  // update.
  TrainerStep Step(std::span<const Trajectory> batch);

  // One safetensors file that Load and every policy (policy/torch/grammar_policy.h) can read: whole
  // and durable, or not there. kExhausted: the disk is full.
  Status Save(const std::string& path) const;

  uint64_t steps() const;

 private:
  struct Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpsmith
