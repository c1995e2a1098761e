#include "common/queue/memory_queue.h"

#include <algorithm>

#include "common/base/parse.h"

namespace warpsmith {

void MemoryBroker::SetAway(bool away) {
  std::lock_guard lock(mutex_);
  away_ = away;
}

void MemoryBroker::SetFull(bool full) {
  std::lock_guard lock(mutex_);
  full_ = full;
}

void MemoryBroker::Wipe() {
  std::lock_guard lock(mutex_);
  streams_.clear();
}

void MemoryBroker::LosePayload(const std::string& stream, uint64_t publish_seq) {
  std::lock_guard lock(mutex_);
  Stream& s = streams_[stream];
  std::erase_if(s.entries,
                [&](const auto& entry) { return entry.second.publish_seq == publish_seq; });
  s.held.erase(publish_seq);
  s.lost.insert(publish_seq);
}

Status MemoryBroker::Check(bool writing) const {
  if (away_) return Fail(ErrorCode::kUnavailable, "the queue is away");
  if (writing && full_) return Fail(ErrorCode::kExhausted, "the queue is full");
  return {};
}

Status MemoryQueue::Ping() {
  std::lock_guard lock(broker_->mutex_);
  return broker_->Check(true);
}

Status MemoryQueue::Publish(const std::string& stream, const std::vector<QueuedTrajectory>& batch) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(true));
  auto& s = broker_->streams_[stream];
  for (const QueuedTrajectory& item : batch) {
    if (item.publish_seq < s.floor || !s.held.insert(item.publish_seq).second) continue;
    s.lost.erase(item.publish_seq);
    const uint64_t place = broker_->next_place_++;
    s.entries[place] = {std::to_string(place), item.publish_seq, item.payload};
    s.end = std::max(s.end, item.publish_seq + 1);
  }
  return {};
}

Result<uint64_t> MemoryQueue::End(const std::string& stream) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(false));
  const auto& s = broker_->streams_[stream];
  return s.lost.empty() ? std::max(s.end, s.floor) : s.floor;
}

Status MemoryQueue::Trim(const std::string& stream, uint64_t below) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(false));
  auto& s = broker_->streams_[stream];
  s.floor = std::max(s.floor, below);
  std::erase_if(s.entries, [&](const auto& entry) { return entry.second.publish_seq < below; });
  s.held.erase(s.held.begin(), s.held.lower_bound(below));
  s.lost.erase(s.lost.begin(), s.lost.lower_bound(below));
  return {};
}

Result<std::vector<QueuedTrajectory>> MemoryQueue::Read(const std::string& stream, size_t limit,
                                                        Duration) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(false));
  auto& s = broker_->streams_[stream];
  std::vector<QueuedTrajectory> result;

  // First what an earlier consumer was given and did not acknowledge.
  uint64_t& given = given_[stream];
  for (auto place = s.pending.upper_bound(given); place != s.pending.end() && result.size() < limit;
       ++place) {
    auto entry = s.entries.find(*place);
    result.push_back(entry != s.entries.end() ? entry->second
                                              : QueuedTrajectory{std::to_string(*place), 0, ""});
    given = *place;
  }
  if (!result.empty()) return result;

  for (auto entry = s.entries.lower_bound(s.next_unread);
       entry != s.entries.end() && result.size() < limit; ++entry) {
    result.push_back(entry->second);
    s.pending.insert(entry->first);
    s.next_unread = entry->first + 1;
    given = entry->first;
  }
  return result;
}

Status MemoryQueue::Acknowledge(const std::string& stream,
                                const std::vector<std::string>& entries) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(false));
  auto& s = broker_->streams_[stream];
  for (const std::string& entry : entries)
    if (const auto number = ParseWhole<uint64_t>(entry)) s.pending.erase(*number);
  return {};
}

Status MemoryQueue::Drop(const std::string& stream) {
  std::lock_guard lock(broker_->mutex_);
  RETURN_IF_ERROR(broker_->Check(false));
  broker_->streams_.erase(stream);
  return {};
}

}  // namespace warpsmith
