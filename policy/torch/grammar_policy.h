// The policy that learns: a network over the slots of the grammar's families. Before any Load it is
// uniform, like the random policy. Thread-compatible; computes on the CPU with one thread (the
// process's torch setting).
#pragma once

#include <memory>

#include "policy/core/family.h"
#include "policy/core/policy.h"

namespace warpsmith {

class GrammarPolicy : public Policy {
 public:
  // The program's families (policy/grammar/families.h).
  GrammarPolicy();
  // `families` outlive the policy.
  explicit GrammarPolicy(std::span<const Family* const> families);
  ~GrammarPolicy() override;

  Result<std::vector<Action>> Act(std::span<const Observation> observations) override;
  // kInvalidInput: weights of another grammar; kCorrupt; kNotFound.
  Status Load(const std::string& path, PolicyVersion version) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpsmith
