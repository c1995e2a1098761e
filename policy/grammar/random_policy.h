// Draws every choice uniformly from those that are not masked: the yardstick of all learning. It
// has no weights; its version stays {0, 0}.
#pragma once

#include "policy/core/family.h"
#include "policy/core/policy.h"

namespace warpsmith {

class RandomPolicy : public Policy {
 public:
  // `families` outlive the policy.
  explicit RandomPolicy(std::span<const Family* const> families) : families_(families) {}

  Result<std::vector<Action>> Act(std::span<const Observation> observations) override;
  // kInvalidInput: there is nothing to load.
  Status Load(const std::string& path, PolicyVersion version) override;

 private:
  std::span<const Family* const> families_;
};

}  // namespace warpsmith
