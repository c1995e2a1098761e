#include "learner/core/watermark.h"

namespace warpsmith {

Watermark::Watermark(const TrainingWatermark& saved) : below_(saved.below) {
  for (const uint64_t seq : saved.exceptions) Add(seq);
}

bool Watermark::Add(uint64_t seq) {
  if (Contains(seq)) return false;
  above_.insert(seq);
  while (!above_.empty() && *above_.begin() == below_) {
    above_.erase(above_.begin());
    ++below_;
  }
  return true;
}

TrainingWatermark Watermark::Save() const {
  return {.below = below_, .exceptions = {above_.begin(), above_.end()}};
}

}  // namespace warpsmith
