#include "worker/core/worker_weights.h"

#include <algorithm>

namespace warpsmith {

WeightsBook::Entry& WeightsBook::Touch(RunId run) {
  if (!runs_.contains(run) && runs_.size() >= remembered_) {
    // Forget the run that was heard of least recently; its next announcement starts it anew.
    auto oldest = std::min_element(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) {
      return a.second.touched < b.second.touched;
    });
    runs_.erase(oldest);
  }
  Entry& entry = runs_[run];
  entry.touched = ++touches_;
  return entry;
}

void WeightsBook::KnowPolicy(RunId run, const std::string& policy) { Touch(run).policy = policy; }

bool WeightsBook::Announce(const WeightsAnnouncement& announcement) {
  Entry& entry = Touch(announcement.run);
  // The same version again may name another endpoint: the learner came back.
  if (announcement.version >= entry.announced.version) entry.announced = announcement;
  return entry.pulled != PolicyVersion{} && announcement.version <= entry.pulled &&
         (entry.policy.empty() || entry.loaded == entry.pulled);
}

bool WeightsBook::Pulled(RunId run, PolicyVersion version, std::string path) {
  Entry& entry = Touch(run);
  entry.pulling = false;
  if (version <= entry.pulled) return false;
  entry.pulled = version;
  entry.path = std::move(path);
  return entry.policy.empty();
}

void WeightsBook::PullFailed(TimePoint now, RunId run) {
  Entry& entry = Touch(run);
  entry.pulling = false;
  entry.retry_at = now + retry_;
}

void WeightsBook::Loaded(RunId run, PolicyVersion version) {
  Entry& entry = Touch(run);
  entry.loaded = std::max(entry.loaded, version);
}

void WeightsBook::LoadFailed(TimePoint now, RunId run) {
  Entry& entry = Touch(run);
  entry.pulled = entry.loaded;
  entry.path.clear();
  entry.retry_at = now + retry_;
}

void WeightsBook::Unloaded() {
  for (auto& [run, entry] : runs_) entry.loaded = {};
}

void WeightsBook::Unloaded(RunId run) {
  if (auto it = runs_.find(run); it != runs_.end()) it->second.loaded = {};
}

PolicyVersion WeightsBook::loaded(RunId run) const {
  auto it = runs_.find(run);
  return it == runs_.end() ? PolicyVersion{} : it->second.loaded;
}

std::vector<WeightsInUse> WeightsBook::InUse() const {
  std::vector<WeightsInUse> in_use;
  for (const auto& [run, entry] : runs_) {
    PolicyVersion version = entry.policy.empty() ? entry.pulled : entry.loaded;
    if (version != PolicyVersion{}) in_use.push_back({run, version});
  }
  return in_use;
}

std::optional<WeightsAnnouncement> WeightsBook::NextPull(TimePoint now) {
  for (auto& [run, entry] : runs_) {
    if (entry.pulling || entry.announced.version <= entry.pulled || now < entry.retry_at) continue;
    entry.pulling = true;
    return entry.announced;
  }
  return std::nullopt;
}

std::optional<LoadWeights> WeightsBook::NextLoad() const {
  for (const auto& [run, entry] : runs_) {
    if (entry.policy.empty() || entry.path.empty() || entry.pulled <= entry.loaded) continue;
    return LoadWeights{
        .run = run, .policy = entry.policy, .version = entry.pulled, .path = entry.path};
  }
  return std::nullopt;
}

std::optional<TimePoint> WeightsBook::NextDeadline() const {
  std::optional<TimePoint> next;
  for (const auto& [run, entry] : runs_) {
    if (entry.pulling || entry.announced.version <= entry.pulled) continue;
    next = next ? std::min(*next, entry.retry_at) : entry.retry_at;
  }
  return next;
}

}  // namespace warpsmith
