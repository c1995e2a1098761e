// One run: how much of its budget is admitted, which group comes next, and how far it may run ahead
// of its learner.
//
// Admission capacity, in episodes (docs/design.md, "Staleness"):
//   (staleness + 1) * batch - (running + accepted, not yet consumed and still usable)
// so that no episode is begun that would be too old when its batch is cut.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/ledger.h"
#include "coordinator/core/record.h"
#include "coordinator/core/version_line.h"
#include "schema/client.h"

namespace warpsmith {

// The next group of a run, not admitted yet.
struct GroupPlan {
  GroupId group;
  TaskId task;
  uint32_t episodes = 0;
  int turns = 0;
  int64_t evaluations() const { return int64_t{episodes} * turns; }
  bool operator==(const GroupPlan&) const = default;
};

// Pure; not shared among threads.
class TrainingRun {
 public:
  explicit TrainingRun(RunAdded added);
  explicit TrainingRun(RunSnapshot snapshot);

  RunId id() const { return added_.run; }
  const RunSpec& spec() const { return added_.spec; }
  bool learns() const { return Learns(spec()); }
  RunState state() const { return changed_.state; }
  bool live() const { return state() == RunState::kRunning || state() == RunState::kFinishing; }
  // Nothing while "auto".
  std::optional<DeviceKind> device() const { return ParseWord<DeviceKind>(changed_.device); }
  // Whether any of its tasks has train cases there.
  bool HasTasksFor(DeviceKind kind) const { return !TrainTasks(kind).empty(); }
  RunChanged Change() const { return changed_; }

  // The budget allows nothing more.
  bool spent() const { return changed_.admitted_evaluations >= spec().budget_evaluations; }
  // May be negative. Without bound for runs that do not learn.
  int64_t Capacity() const;
  // What would be admitted now on this kind of device. Each cycle draws every task once, in an
  // order of its own from the run's seed. Nothing: budget or capacity, or no task has train cases
  // there.
  std::optional<GroupPlan> NextGroup(DeviceKind kind) const;
  void Admit(const GroupPlan& plan, DeviceKind kind);

  // A live group of the store, after a restart.
  void Resume(GroupId group, uint32_t missing_episodes);
  // Counts the turns; the trajectory's place in the stream, of a run that learns.
  std::optional<uint64_t> Accept(const Trajectory& trajectory);
  // Episodes that ended otherwise: given up or cancelled.
  void GiveUp(uint32_t episodes, int64_t masked_evaluations);
  void GroupEnded(GroupId group) { live_groups_.erase(group); }
  size_t live_groups() const { return live_groups_.size(); }
  int64_t running_episodes() const { return running_episodes_; }

  void SetState(RunState state, int64_t ended_at_ms = 0, std::string problem = "");

  // Everything but what only the whole coordinator knows (jobs, why it waits).
  RunStatus Status() const;

  Ledger ledger;
  VersionLine line;

 private:
  std::vector<const Task*> TrainTasks(DeviceKind kind) const;

  RunAdded added_;
  RunChanged changed_;
  RunCounters counters_;
  int64_t running_episodes_ = 0;
  std::set<GroupId> live_groups_;
};

}  // namespace warpsmith
