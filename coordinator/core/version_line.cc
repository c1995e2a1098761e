#include "coordinator/core/version_line.h"

#include <algorithm>

namespace warpsmith {

void VersionLine::Fork(const PolicyVersion& from, uint64_t incarnation) {
  if (incarnation <= incarnation_) return;
  for (uint64_t i = from.incarnation + 1; i < incarnation; ++i) ended_[i] = std::nullopt;
  ended_[from.incarnation] = from.step;
  incarnation_ = incarnation;
  head_step_ = from.step;
  // {0, 0} is every policy's start: as long as nothing was trained, every worker has it already.
  if (newest_ > PolicyVersion{} || from > PolicyVersion{}) required_ = {incarnation, 0};
  newest_ = std::max(newest_, from);
}

void VersionLine::Advance(const PolicyVersion& version) {
  if (version.incarnation != incarnation_ || version <= newest_) return;
  newest_ = version;
  required_ = version;
  head_step_ = version.step;
}

std::optional<uint64_t> VersionLine::Lag(const PolicyVersion& version) const {
  if (version.incarnation > incarnation_) return std::nullopt;
  if (version.incarnation < incarnation_) {
    const auto ended = ended_.find(version.incarnation);
    if (ended == ended_.end() || !ended->second || version.step > *ended->second)
      return std::nullopt;
  }
  return head_step_ > version.step ? head_step_ - version.step : 0;
}

}  // namespace warpsmith
