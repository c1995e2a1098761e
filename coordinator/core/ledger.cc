#include "coordinator/core/ledger.h"

#include "common/model/reward.h"

namespace warpsmith {

Ledger::Ledger(std::vector<LedgerEntry> entries) : entries_(std::move(entries)) {
  for (uint64_t seq = 0; seq < entries_.size(); ++seq) {
    const LedgerEntry& entry = entries_[seq];
    if (!entry.consumed) unconsumed_.insert(seq);
    if (entry.fate) ++counts_[static_cast<size_t>(*entry.fate)];
  }
}

uint64_t Ledger::Append(const Trajectory& trajectory) {
  LedgerEntry entry;
  entry.group = trajectory.id.group;
  entry.oldest = OldestVersion(trajectory);
  entry.rewarded = AnyTurnRewarded(trajectory);
  entries_.push_back(entry);
  unconsumed_.insert(end() - 1);
  return end() - 1;
}

std::vector<TrajectoryConsumed> Ledger::Consume(const CheckpointDurable& checkpoint) {
  std::vector<TrajectoryConsumed> marks;
  for (const ConsumedTrajectory& report : checkpoint.consumed) {
    if (report.publish_seq >= end()) {
      ++errors_;
      continue;
    }
    LedgerEntry& entry = entries_[report.publish_seq];
    if (entry.fate) {
      if (entry.by != checkpoint.version || *entry.fate != report.fate) ++errors_;
      continue;
    }
    // Consumed without a fate: a watermark came before this report, which fills in the fate.
    entry.consumed = true;
    entry.fate = report.fate;
    entry.by = checkpoint.version;
    unconsumed_.erase(report.publish_seq);
    ++counts_[static_cast<size_t>(report.fate)];
    marks.push_back({checkpoint.run, report.publish_seq, report.fate, checkpoint.version});
  }
  return marks;
}

Ledger::Resumed Ledger::Resume(RunId run, const TrainingWatermark& watermark,
                               const PolicyVersion& version) {
  const std::set<uint64_t> above(watermark.exceptions.begin(), watermark.exceptions.end());
  Resumed resumed;
  for (uint64_t seq = 0; seq < end(); ++seq) {
    LedgerEntry& entry = entries_[seq];
    const bool held = seq < watermark.below || above.contains(seq);
    if (entry.consumed == held) continue;
    if (held) {
      entry.consumed = true;
      entry.by = version;
      unconsumed_.erase(seq);
      resumed.consumed.push_back({run, seq, std::nullopt, version});
    } else {
      if (entry.fate) --counts_[static_cast<size_t>(*entry.fate)];
      entry.consumed = false;
      entry.fate.reset();
      entry.by = {};
      unconsumed_.insert(seq);
      resumed.undone.push_back({run, seq});
    }
  }
  return resumed;
}

int64_t Ledger::Usable(const VersionLine& line, int staleness,
                       const std::set<GroupId>& live) const {
  std::map<GroupId, int64_t> usable;
  for (uint64_t seq : unconsumed_) {
    const LedgerEntry& entry = entries_[seq];
    const auto lag = line.Lag(entry.oldest);
    if (entry.rewarded && lag && *lag <= static_cast<uint64_t>(staleness)) ++usable[entry.group];
  }
  int64_t sum = 0;
  for (const auto& [group, count] : usable)
    if (count > 1 || live.contains(group)) sum += count;
  return sum;
}

}  // namespace warpsmith
