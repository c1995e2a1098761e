// The training stream of one run: every accepted trajectory in its dense place, and what became of
// it. A place is consumed exactly once on the run's line of weights; what says otherwise is counted
// as an error and changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "coordinator/core/record.h"
#include "coordinator/core/version_line.h"
#include "schema/learner.h"

namespace warpsmith {

// Pure; not shared among threads.
class Ledger {
 public:
  Ledger() = default;
  explicit Ledger(std::vector<LedgerEntry> entries);

  // The place of a newly accepted trajectory.
  uint64_t Append(const Trajectory& trajectory);

  // A durable checkpoint. Gives the marks to store; what was marked by the same checkpoint before
  // is left out, so that a repeated report changes nothing.
  std::vector<TrajectoryConsumed> Consume(const CheckpointDurable& checkpoint);

  // A new learner process goes on from a checkpoint that holds exactly `watermark`: marks beyond it
  // are undone, places within it that nobody reported are marked without a fate.
  struct Resumed {
    std::vector<TrajectoryConsumed> consumed;
    std::vector<ConsumptionUndone> undone;
  };
  Resumed Resume(RunId run, const TrainingWatermark& watermark, const PolicyVersion& version);

  uint64_t end() const { return entries_.size(); }
  // Everything below is consumed.
  uint64_t base() const { return unconsumed_.empty() ? end() : *unconsumed_.begin(); }
  bool drained() const { return unconsumed_.empty(); }
  // Not consumed, with a reward, within `staleness` steps of the line's newest version, and not the
  // only one of a group that is no longer `live` (an episode without a peer has no advantage).
  int64_t Usable(const VersionLine& line, int staleness, const std::set<GroupId>& live) const;

  // Consumed, and nobody has said how.
  int64_t fateless() const { return consumed() - counts_[0] - counts_[1] - counts_[2]; }
  int64_t consumed() const { return static_cast<int64_t>(end() - unconsumed_.size()); }
  int64_t count(Fate fate) const { return counts_[static_cast<size_t>(fate)]; }
  // Reports that contradict the first one, or name places that do not exist.
  int64_t errors() const { return errors_; }
  const std::vector<LedgerEntry>& entries() const { return entries_; }

 private:
  std::vector<LedgerEntry> entries_;
  std::set<uint64_t> unconsumed_;
  int64_t counts_[3] = {0, 0, 0};
  int64_t errors_ = 0;
};

}  // namespace warpsmith
