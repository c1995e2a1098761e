// Which policy versions belong to the line of weights that a run is trained on now. A learner that
// starts again from a checkpoint forks the line there; what an earlier incarnation did after that
// checkpoint is off the line, and stale.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/model/trajectory.h"

namespace warpsmith {

// Pure; not shared among threads.
class VersionLine {
 public:
  // Learner `incarnation` goes on from `from`. Incarnations ascend.
  void Fork(const PolicyVersion& from, uint64_t incarnation);
  // The current incarnation has this version. Older ones than the newest change nothing.
  void Advance(const PolicyVersion& version);

  const PolicyVersion& newest() const { return newest_; }
  // What a worker's weights must have reached before it starts a new rollout: the newest version,
  // or, after a fork, any of the new incarnation (none is known before its first announcement).
  const PolicyVersion& required() const { return required_; }
  // Steps from `version` to the newest on the line; nothing: it is off the line.
  std::optional<uint64_t> Lag(const PolicyVersion& version) const;

 private:
  // Incarnations before the current one -> their last step on the line; nothing: never on it.
  std::map<uint64_t, std::optional<uint64_t>> ended_;
  uint64_t incarnation_ = 0;
  uint64_t head_step_ = 0;
  PolicyVersion newest_;
  PolicyVersion required_;
};

}  // namespace warpsmith
