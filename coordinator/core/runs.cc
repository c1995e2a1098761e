#include "coordinator/core/runs.h"

#include <algorithm>
#include <limits>

#include "common/base/check.h"
#include "common/base/random.h"

namespace warpsmith {

TrainingRun::TrainingRun(RunAdded added) : added_(std::move(added)) {
  changed_.run = added_.run;
  changed_.device = spec().device;
}

TrainingRun::TrainingRun(RunSnapshot snapshot)
    : ledger(std::move(snapshot.ledger)),
      added_(std::move(snapshot.added)),
      changed_(std::move(snapshot.changed)),
      counters_(std::move(snapshot.counters)) {
  for (const LineForked& fork : snapshot.forks) {
    line.Fork(fork.from, fork.incarnation);
    for (const PolicyVersion& version : snapshot.checkpoints) line.Advance(version);
  }
}

std::vector<const Task*> TrainingRun::TrainTasks(DeviceKind kind) const {
  std::vector<const Task*> tasks = AllTasks(spec());
  std::erase_if(tasks, [&](const Task* task) {
    const auto& cases = CasesOf(*task, kind);
    return std::none_of(cases.begin(), cases.end(),
                        [](const Case& c) { return c.role == CaseRole::kTrain; });
  });
  return tasks;
}

int64_t TrainingRun::Capacity() const {
  if (!learns()) return std::numeric_limits<int64_t>::max();
  const Algorithm& algorithm = spec().algorithm;
  return (int64_t{algorithm.staleness} + 1) * algorithm.batch_episodes -
         (running_episodes_ + ledger.Usable(line, algorithm.staleness, live_groups_));
}

std::optional<GroupPlan> TrainingRun::NextGroup(DeviceKind kind) const {
  if (state() != RunState::kRunning || spent()) return std::nullopt;
  const std::vector<const Task*> tasks = TrainTasks(kind);
  if (tasks.empty()) return std::nullopt;

  GroupPlan plan;
  plan.group = GroupId(changed_.next_group);
  plan.turns = spec().algorithm.turns;
  int64_t episodes = spec().algorithm.group;
  const int64_t capacity = Capacity();
  if (capacity < episodes) {
    // A whole group does not fit. It will once something is consumed, unless nothing runs: then the
    // learner may be waiting for just these episodes, and a smaller group keeps both going. Of two,
    // because an episode without a peer has no advantage and is not waited for.
    if (capacity <= 0 || running_episodes_ > 0) return std::nullopt;
    episodes = std::min(episodes, std::max<int64_t>(capacity, 2));
  }
  const int64_t left = spec().budget_evaluations - changed_.admitted_evaluations;
  if (left < plan.turns) {
    plan.turns = static_cast<int>(left);  // the budget's last evaluations are one short episode
    episodes = 1;
  }
  plan.episodes = static_cast<uint32_t>(std::min(episodes, left / plan.turns));

  // Fisher-Yates over the cycle's own stream, up to this group's place.
  const uint64_t cycle = changed_.next_group / tasks.size();
  const uint64_t place = changed_.next_group % tasks.size();
  std::vector<const Task*> order = tasks;
  Random random(MixSeed({spec().seed, cycle}));
  for (uint64_t i = 0; i <= place; ++i)
    std::swap(order[i], order[i + random.Below(order.size() - i)]);
  plan.task = order[place]->id;
  return plan;
}

void TrainingRun::Admit(const GroupPlan& plan, DeviceKind kind) {
  CHECK(plan.group == GroupId(changed_.next_group), "groups are admitted in order");
  ++changed_.next_group;
  changed_.admitted_evaluations += plan.evaluations();
  changed_.device = ToString(kind);
  CHECK(changed_.admitted_evaluations <= spec().budget_evaluations, "a budget is never overdrawn");
  running_episodes_ += plan.episodes;
  live_groups_.insert(plan.group);
}

void TrainingRun::Resume(GroupId group, uint32_t missing_episodes) {
  running_episodes_ += missing_episodes;
  live_groups_.insert(group);
}

std::optional<uint64_t> TrainingRun::Accept(const Trajectory& trajectory) {
  CHECK(running_episodes_ > 0, "only a running episode is accepted");
  --running_episodes_;
  ++counters_.trajectories;
  for (const Turn& turn : trajectory.turns)
    CountTurn(counters_, trajectory.task, turn.evaluation.outcome);
  if (!learns()) return std::nullopt;
  return ledger.Append(trajectory);
}

void TrainingRun::GiveUp(uint32_t episodes, int64_t masked_evaluations) {
  running_episodes_ -= episodes;
  counters_.masked_evaluations += masked_evaluations;
  CHECK(running_episodes_ >= 0, "an episode ends once");
}

void TrainingRun::SetState(RunState state, int64_t ended_at_ms, std::string problem) {
  changed_.state = state;
  changed_.ended_at_ms = ended_at_ms;
  changed_.problem = std::move(problem);
}

RunStatus TrainingRun::Status() const {
  RunStatus status;
  status.run = id();
  status.name = spec().name;
  status.policy = spec().policy;
  status.state = state();
  status.device = changed_.device;
  status.budget_evaluations = spec().budget_evaluations;
  status.admitted_evaluations = changed_.admitted_evaluations;
  status.finished_evaluations = counters_.finished_evaluations;
  status.correct_evaluations = counters_.correct_evaluations;
  status.infrastructure_evaluations =
      counters_.infrastructure_evaluations + counters_.masked_evaluations;
  status.trajectories_accepted = counters_.trajectories;
  status.trajectories_consumed = ledger.consumed();
  status.trajectories_trained = ledger.count(Fate::kTrained);
  status.trajectories_stale = ledger.count(Fate::kStale);
  status.version = line.newest();
  status.best_speedup = counters_.best_speedup;
  status.best_task = counters_.best_task;
  status.started_at_ms = added_.started_at_ms;
  status.ended_at_ms = changed_.ended_at_ms;
  status.problem = changed_.problem;
  return status;
}

}  // namespace warpsmith
