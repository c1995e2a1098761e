// What writes candidates. Grammar, random search, language models and served models stand behind
// this one interface. Implementations are thread-compatible: one call at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/task.h"
#include "common/model/trajectory.h"
#include "schema/child.h"
#include "schema/device.h"

namespace warpsmith {

// What a policy sees before a turn. Derived from records alone, so that a learner sees exactly what
// the policy saw. References must outlive the call.
struct Observation {
  const Task& task;
  const DeviceFacts& device;
  std::span<const Turn> turns;  // of this episode, so far
  uint64_t seed = 0;  // of this action's sampling: the same seed and weights, the same action
};

class Policy {
 public:
  virtual ~Policy() = default;

  // One action an observation, in order. kInvalidInput: this policy cannot write for such a task
  // (no family fits); the message says why.
  virtual Result<std::vector<Action>> Act(std::span<const Observation> observations) = 0;

  // Takes weights from a safetensors file; later actions carry `version`. On error the old weights
  // stay.
  virtual Status Load(const std::string& path, PolicyVersion version) = 0;
};

}  // namespace warpsmith
