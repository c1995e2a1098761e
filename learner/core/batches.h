// From a run's stream of trajectories to the batches of its learner's steps, each trajectory
// consumed exactly once: trained, stale or dropped. Pure; the same additions and cuts give the same
// batches.
//
// Invariant: every sequence number added is in exactly one place: pending, given up but not told
// yet, or below the watermark.
//
// When a batch is cut
// - Trajectories whose oldest turn is more than `staleness` steps behind the current version, or
//   was sampled off the current line of versions, are stale: never trained.
// - Trajectories without a trainable turn (advantages.h) are dropped.
// - A group is whole when all `group` episodes have been seen. As soon as whole groups hold
//   `batch_episodes` usable trajectories, the oldest whole groups become the batch.
// - Groups need not become whole (an episode may be given up elsewhere), so when usable
//   trajectories in groups of two or more reach 1.5 x batch_episodes (batch_episodes where
//   staleness is 0, for then no more can come), the oldest groups are taken as they are.
// - What is given up is told with the next batch, and until then some of it counts for admission
//   (coordinator/core/ledger.h: an unreadable payload, or a reward without an advantage). Where
//   that and what is pending use up the admission capacity, no more can come: a batch is made of
//   the groups that are there, or of nothing.
// - At the end of a run everything left is taken; a trajectory without a peer is dropped.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "common/model/run.h"
#include "learner/core/watermark.h"
#include "schema/learner.h"

namespace warpsmith {

// The versions that led to the current one: a later incarnation may have forked from an older step.
class TrainedLine {
 public:
  TrainedLine() = default;
  // `ancestors`: for each earlier incarnation the newest version of it that the line passed
  // through.
  TrainedLine(PolicyVersion current, std::vector<PolicyVersion> ancestors)
      : current_(current), ancestors_(std::move(ancestors)) {}

  const PolicyVersion& current() const { return current_; }
  const std::vector<PolicyVersion>& ancestors() const { return ancestors_; }

  // The line goes on. `next` is later than current; a new incarnation forks from the current
  // version.
  void Advance(PolicyVersion next);
  // Whether the line passed through it. The start {0, 0} is on every line.
  bool Contains(const PolicyVersion& version) const;
  // Steps that `version`, on the line, is behind.
  uint64_t StepsBehind(const PolicyVersion& version) const { return current_.step - version.step; }

 private:
  PolicyVersion current_;
  std::vector<PolicyVersion> ancestors_;
};

struct Batch {
  std::vector<Trajectory> trajectories;  // to train on, in order of sequence; may be empty
  std::vector<ConsumedTrajectory>
      consumed;  // those, and what became stale or was dropped since the last
};

class Batches {
 public:
  Batches(const Algorithm& algorithm, const TrainingWatermark& consumed)
      : algorithm_(algorithm), watermark_(consumed) {}

  // False: known already (consumed or pending): acknowledge and forget it.
  bool Add(uint64_t seq, Trajectory trajectory);
  // A sequence number whose payload is lost for good or makes no sense. False: known already.
  bool Drop(uint64_t seq);

  // The next batch, if there is enough for one. What it consumed is in the watermark from now on.
  std::optional<Batch> Cut(const TrainedLine& line);
  // Everything that is left, however little; nothing where no number waits. Its trajectories may be
  // empty with something consumed: then the policy stays and only the watermark moves.
  std::optional<Batch> CutRest(const TrainedLine& line);

  // Whether every number below `end` was added: with CloseRun's end, nothing more will come.
  bool HasAllBelow(uint64_t end) const;
  size_t pending() const { return pending_.size() + gone_.size(); }
  // What it keeps of groups; bounded by what is pending and the groups that never became whole.
  size_t remembered_groups() const { return seen_.size(); }
  TrainingWatermark watermark() const { return watermark_.Save(); }

 private:
  using Groups = std::map<GroupId, std::vector<uint64_t>>;  // pending numbers, ascending

  bool IsKnown(uint64_t seq) const;
  void GiveUp(uint64_t seq, Fate fate);
  void Consume(uint64_t seq, Fate fate, Batch& batch);
  // Gives up what can never be trained, and returns the rest by group.
  Groups Sieve(const TrainedLine& line);
  bool IsInTime(const Trajectory& trajectory, const TrainedLine& line) const;
  bool IsWhole(const GroupId& group) const;
  // Whether the coordinator may be unable to admit anything before it hears what was given up.
  bool AdmissionMayWait(const Groups& groups) const;
  void ForgetFinishedGroups();
  void Take(const std::vector<std::vector<uint64_t>>& groups, Batch& batch);

  const Algorithm algorithm_;
  Watermark watermark_;
  std::map<uint64_t, Trajectory> pending_;
  std::vector<ConsumedTrajectory> gone_;  // given up: in the consumed of the next batch
  // Of those, what counts for admission still: members of groups, and numbers of unknown groups.
  std::map<GroupId, size_t> lost_;
  size_t unreadable_ = 0;
  // Episodes of a group, whatever became of them, until the last of a whole group is consumed.
  std::map<GroupId, int> seen_;
};

}  // namespace warpsmith
