// Which weights of which run are announced, on disk, and loaded in the policy child. Pure.
//
// A run's weights move announced -> pulled -> loaded; each only forwards. They are loaded once the
// kind of the run's policy is known, which its first job tells; until then being on disk counts as
// in use. A version that the policy takes in no fresh copy either, or dies over again and again, is
// refused: only a newer one is pulled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "schema/child.h"
#include "schema/worker.h"

namespace warpsmith {

class WeightsBook {
 public:
  WeightsBook(Duration retry, size_t remembered) : retry_(retry), remembered_(remembered) {}

  void KnowPolicy(RunId run, const std::string& policy);
  // True: this very version is in use already, and the coordinator has not heard of it.
  bool Announce(const WeightsAnnouncement& announcement);
  // True: it counts as in use now.
  bool Pulled(RunId run, PolicyVersion version, std::string path);
  void PullFailed(TimePoint now, RunId run);
  void Loaded(RunId run, PolicyVersion version);
  // The policy did not take the file: it is pulled again, or refused. The policy died over it: it
  // is loaded again, or refused. True: refused now.
  bool LoadFailed(TimePoint now, const LoadWeights& load, const std::string& why);
  bool LoadDied(const LoadWeights& load, const std::string& why);
  // The policy child is a fresh one, or has forgotten this run.
  void Unloaded();
  void Unloaded(RunId run);

  PolicyVersion loaded(RunId run) const;
  // What the coordinator may count on: one a run that has any.
  std::vector<WeightsInUse> InUse() const;
  // And what it may not: the newest version of each run that was refused.
  std::vector<WeightsRefused> Refused() const;
  bool Refuses(RunId run, PolicyVersion version) const;
  // Why the run's weights will not reach `wanted` unless newer ones come; nothing: they may.
  std::optional<std::string> Hopeless(RunId run, PolicyVersion wanted) const;

  // The next weights to pull; marks them as being pulled.
  std::optional<WeightsAnnouncement> NextPull(TimePoint now);
  // The next to load, with id 0.
  std::optional<LoadWeights> NextLoad() const;
  std::optional<TimePoint> NextDeadline() const;

 private:
  struct Entry {
    std::string policy;
    WeightsAnnouncement announced;
    PolicyVersion pulled;
    std::string path;
    PolicyVersion loaded;
    PolicyVersion refused;
    std::string refused_why;
    PolicyVersion troubled;  // what the next two count
    int failed_loads = 0;
    int deaths = 0;
    bool pulling = false;
    TimePoint retry_at{};
    uint64_t touched = 0;
  };
  Entry& Touch(RunId run);
  bool MayPull(const Entry& entry) const;
  // Counts one more; true: `most` are reached, and the version is refused.
  static bool Trouble(Entry& entry, PolicyVersion version, int Entry::*count, int most,
                      const std::string& why);

  Duration retry_;
  size_t remembered_;
  uint64_t touches_ = 0;
  std::map<RunId, Entry> runs_;
};

}  // namespace warpsmith
