// An observation as numbers for a network. Pure: a policy and the learner that trains it compute
// the same features from the same records.
//
// All features lie within about [-2, 2]. They describe the operation (element type, sizes, which
// functions its reference calls), the device, and how the episode went so far. The task's name is
// not among them, so that what is learned on one task can serve another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/core/family.h"
#include "policy/core/policy.h"

namespace warpsmith {

struct EncodedObservation {
  std::vector<float> features;  // kFeatures of them
  // The slot choices of the best turn so far (correct, highest speed-up) and of the last one; empty
  // where there is none.
  std::vector<int32_t> best;
  std::vector<int32_t> last;
};

// Fixed: weights hold the count.
constexpr size_t kFeatures = 64;

// `turns` may be shorter than the observation's: the learner encodes each turn of a trajectory with
// those before it.
EncodedObservation Encode(const Task& task, const DeviceFacts& device, std::span<const Turn> turns);

// Whether ids are one allowed choice of every slot. kInvalidInput otherwise: they were written by
// another grammar, and nothing can be learned from them.
Status CheckChoices(const Family& family, const Task& task, std::span<const int32_t> ids);

}  // namespace warpsmith
