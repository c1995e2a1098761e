// Which weights can be pulled: written by the loop, read by the publisher's thread. Thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include "common/model/trajectory.h"

namespace warpsmith {

class WeightsTable {
 public:
  // Earlier versions of the run stay for workers that are in the middle of one, the last two of
  // them.
  void Put(RunId run, PolicyVersion version, std::filesystem::path path) {
    std::lock_guard lock(mutex_);
    auto& versions = runs_[run];
    versions[version] = std::move(path);
    while (versions.size() > 3) versions.erase(versions.begin());
  }
  void Drop(RunId run) {
    std::lock_guard lock(mutex_);
    runs_.erase(run);
  }
  std::optional<std::filesystem::path> Find(RunId run, PolicyVersion version) const {
    std::lock_guard lock(mutex_);
    const auto versions = runs_.find(run);
    if (versions == runs_.end()) return std::nullopt;
    const auto found = versions->second.find(version);
    if (found == versions->second.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<RunId, std::map<PolicyVersion, std::filesystem::path>> runs_;
};

}  // namespace warpsmith
