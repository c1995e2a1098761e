// Which trajectories of a run's stream are consumed: everything below a mark, and some above it.
// Pure.
#pragma once

#include <cstdint>
#include <set>

#include "schema/learner.h"

namespace warpsmith {

class Watermark {
 public:
  Watermark() = default;
  explicit Watermark(const TrainingWatermark& saved);

  bool Contains(uint64_t seq) const { return seq < below_ || above_.contains(seq); }
  // False: it was consumed before.
  bool Add(uint64_t seq);
  uint64_t below() const { return below_; }

  TrainingWatermark Save() const;

 private:
  uint64_t below_ = 0;
  std::set<uint64_t> above_;
};

}  // namespace warpsmith
