#include "worker/core/worker_weights.h"

#include <algorithm>

#include "common/model/trajectory.h"

namespace warpsmith {
namespace {

// A fresh copy tells a bad file from bad weights.
constexpr int kCopies = 3;
// A machine in trouble kills processes too: with its supervisor's growing delays, this many starts
// take most of a minute.
constexpr int kDeaths = 8;

}  // namespace

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
  if (version <= entry.pulled || version <= entry.refused) return false;
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
  entry.failed_loads = entry.deaths = 0;
}

bool WeightsBook::Trouble(Entry& entry, PolicyVersion version, int Entry::*count, int most,
                          const std::string& why) {
  if (entry.troubled != version) entry.failed_loads = entry.deaths = 0;
  entry.troubled = version;
  if (++(entry.*count) < most) return false;
  entry.refused = std::max(entry.refused, version);
  entry.refused_why = why;
  return true;
}

bool WeightsBook::LoadFailed(TimePoint now, const LoadWeights& load, const std::string& why) {
  Entry& entry = Touch(load.run);
  const bool refused = Trouble(entry, load.version, &Entry::failed_loads, kCopies, why);
  if (entry.pulled == load.version) {  // else a newer one has come meanwhile
    entry.pulled = entry.loaded;
    entry.path.clear();
    entry.retry_at = now + retry_;
  }
  return refused;
}

bool WeightsBook::LoadDied(const LoadWeights& load, const std::string& why) {
  Entry& entry = Touch(load.run);
  const bool refused = Trouble(entry, load.version, &Entry::deaths, kDeaths, why);
  if (refused && entry.pulled == load.version) {
    entry.pulled = {};
    entry.path.clear();
  }
  return refused;
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

std::vector<WeightsRefused> WeightsBook::Refused() const {
  std::vector<WeightsRefused> refused;
  for (const auto& [run, entry] : runs_) {
    if (entry.refused != PolicyVersion{})
      refused.push_back({run, entry.refused, entry.refused_why});
  }
  return refused;
}

bool WeightsBook::Refuses(RunId run, PolicyVersion version) const {
  auto it = runs_.find(run);
  return it != runs_.end() && it->second.refused >= version && it->second.loaded < version;
}

std::optional<std::string> WeightsBook::Hopeless(RunId run, PolicyVersion wanted) const {
  auto it = runs_.find(run);
  if (it == runs_.end()) return std::nullopt;
  const Entry& entry = it->second;
  if (entry.loaded >= wanted || wanted > entry.refused || entry.announced.version > entry.refused)
    return std::nullopt;
  return "the policy refuses the weights " + ToString(entry.refused) + ": " + entry.refused_why;
}

bool WeightsBook::MayPull(const Entry& entry) const {
  return !entry.pulling && entry.announced.version > entry.pulled &&
         entry.announced.version > entry.refused;
}

std::optional<WeightsAnnouncement> WeightsBook::NextPull(TimePoint now) {
  for (auto& [run, entry] : runs_) {
    if (!MayPull(entry) || now < entry.retry_at) continue;
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
    if (!MayPull(entry)) continue;
    next = next ? std::min(*next, entry.retry_at) : entry.retry_at;
  }
  return next;
}

}  // namespace warpsmith
