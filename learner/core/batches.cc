#include "learner/core/batches.h"

#include <algorithm>
#include <set>

#include "common/base/check.h"
#include "common/model/reward.h"
#include "learner/core/advantages.h"

namespace warpsmith {

void TrainedLine::Advance(PolicyVersion next) {
  CHECK(next > current_ && next.step >= current_.step, "a line goes forward");
  if (next.incarnation != current_.incarnation) ancestors_.push_back(current_);
  current_ = next;
}

bool TrainedLine::Contains(const PolicyVersion& version) const {
  if (version == PolicyVersion{}) return true;
  if (version.incarnation == current_.incarnation) return version.step <= current_.step;
  return std::any_of(ancestors_.begin(), ancestors_.end(), [&](const PolicyVersion& last) {
    return last.incarnation == version.incarnation && version.step <= last.step;
  });
}

bool Batches::IsKnown(uint64_t seq) const {
  return watermark_.Contains(seq) || pending_.contains(seq) ||
         std::any_of(gone_.begin(), gone_.end(),
                     [&](const ConsumedTrajectory& gone) { return gone.publish_seq == seq; });
}

bool Batches::Add(uint64_t seq, Trajectory trajectory) {
  if (IsKnown(seq)) return false;
  ++seen_[trajectory.id.group];
  pending_.emplace(seq, std::move(trajectory));
  return true;
}

bool Batches::Drop(uint64_t seq) {
  if (IsKnown(seq)) return false;
  gone_.push_back({.publish_seq = seq, .fate = Fate::kDropped});
  ++unreadable_;
  return true;
}

void Batches::Consume(uint64_t seq, Fate fate, Batch& batch) {
  CHECK(watermark_.Add(seq), "a trajectory is consumed once");
  batch.consumed.push_back({.publish_seq = seq, .fate = fate});
}

void Batches::GiveUp(uint64_t seq, Fate fate) {
  gone_.push_back({.publish_seq = seq, .fate = fate});
  pending_.erase(seq);
}

Batches::Groups Batches::Sieve(const TrainedLine& line) {
  Groups groups;
  for (auto it = pending_.begin(); it != pending_.end();) {
    const auto& [seq, trajectory] = *it++;
    if (!IsTrainable(trajectory)) {
      if (AnyTurnRewarded(trajectory) && IsInTime(trajectory, line)) ++lost_[trajectory.id.group];
      GiveUp(seq, Fate::kDropped);
      continue;
    }
    if (!IsInTime(trajectory, line)) {
      GiveUp(seq, Fate::kStale);
      continue;
    }
    groups[trajectory.id.group].push_back(seq);
  }
  std::erase_if(groups, [&](const auto& group) {
    const bool alone = group.second.size() < 2 && IsWhole(group.first);
    if (alone) {
      ++lost_[group.first];
      GiveUp(group.second.front(), Fate::kDropped);
    }
    return alone;
  });
  return groups;
}

bool Batches::IsInTime(const Trajectory& trajectory, const TrainedLine& line) const {
  const PolicyVersion oldest = OldestVersion(trajectory);
  return line.Contains(oldest) &&
         line.StepsBehind(oldest) <= static_cast<uint64_t>(algorithm_.staleness);
}

bool Batches::AdmissionMayWait(const Groups& groups) const {
  std::map<GroupId, size_t> members = lost_;
  for (const auto& [id, numbers] : groups) members[id] += numbers.size();
  size_t counted = unreadable_, alone = 0;
  for (const auto& [id, count] : members) {
    if (count > 1)
      counted += count;
    else
      ++alone;
  }
  counted += std::min(alone, unreadable_);  // which may have been their peers
  const auto capacity = (static_cast<size_t>(algorithm_.staleness) + 1) *
                        static_cast<size_t>(algorithm_.batch_episodes);
  return counted >= capacity;
}

bool Batches::IsWhole(const GroupId& group) const {
  const auto seen = seen_.find(group);
  return seen != seen_.end() && seen->second >= algorithm_.group;
}

void Batches::Take(const std::vector<std::vector<uint64_t>>& groups, Batch& batch) {
  for (const ConsumedTrajectory& gone : gone_) Consume(gone.publish_seq, gone.fate, batch);
  gone_.clear();
  lost_.clear();
  unreadable_ = 0;
  std::vector<uint64_t> numbers;
  for (const auto& group : groups) numbers.insert(numbers.end(), group.begin(), group.end());
  std::sort(numbers.begin(), numbers.end());
  for (const uint64_t seq : numbers) {
    const auto found = pending_.find(seq);
    Consume(seq, Fate::kTrained, batch);
    batch.trajectories.push_back(std::move(found->second));
    pending_.erase(found);
  }
  ForgetFinishedGroups();
}

void Batches::ForgetFinishedGroups() {
  std::set<GroupId> pending;
  for (const auto& [seq, trajectory] : pending_) pending.insert(trajectory.id.group);
  std::erase_if(seen_, [&](const auto& group) {
    return group.second >= algorithm_.group && !pending.contains(group.first);
  });
}

std::optional<Batch> Batches::Cut(const TrainedLine& line) {
  Batch batch;
  const Groups groups = Sieve(line);
  std::vector<std::vector<uint64_t>> whole, all;
  for (const auto& [id, numbers] : groups) {
    if (numbers.size() < 2) continue;  // no peers: nothing to compare with
    all.push_back(numbers);
    if (IsWhole(id)) whole.push_back(numbers);
  }
  const auto oldest_first = [](const auto& a, const auto& b) { return a.front() < b.front(); };
  const auto wanted = static_cast<size_t>(algorithm_.batch_episodes);
  for (auto* candidates : {&whole, &all}) {
    std::sort(candidates->begin(), candidates->end(), oldest_first);
    size_t total = 0, enough = 0, taken = 0;
    for (const auto& numbers : *candidates) {
      total += numbers.size();
      if (taken < wanted) {
        taken += numbers.size();
        ++enough;
      }
    }
    const bool patient = candidates == &all && algorithm_.staleness > 0;
    if (total < (patient ? wanted + wanted / 2 : wanted)) continue;
    candidates->resize(enough);
    Take(*candidates, batch);
    return batch;
  }
  if (gone_.empty() || !AdmissionMayWait(groups)) return std::nullopt;
  Take(all, batch);
  return batch;
}

std::optional<Batch> Batches::CutRest(const TrainedLine& line) {
  if (pending() == 0) return std::nullopt;
  Batch batch;
  std::vector<std::vector<uint64_t>> rest;
  for (auto& [id, numbers] : Sieve(line)) {
    if (numbers.size() >= 2) {
      rest.push_back(numbers);
      continue;
    }
    GiveUp(numbers.front(), Fate::kDropped);
  }
  Take(rest, batch);
  return batch;
}

bool Batches::HasAllBelow(uint64_t end) const {
  uint64_t known = pending_.size() + gone_.size();
  for (auto it = pending_.lower_bound(end); it != pending_.end(); ++it) --known;
  for (const ConsumedTrajectory& gone : gone_)
    if (gone.publish_seq >= end) --known;
  const TrainingWatermark consumed = watermark_.Save();
  known += std::min(consumed.below, end);
  for (const uint64_t seq : consumed.exceptions)
    if (seq < end) ++known;
  return known >= end;
}

}  // namespace warpsmith
