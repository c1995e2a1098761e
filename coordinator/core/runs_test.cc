#include "coordinator/core/runs.h"

#include <gtest/gtest.h>

#include <set>

#include "coordinator/core/testing.h"

namespace warpsmith {
namespace {

TrainingRun RunOf(RunSpec spec) {
  return TrainingRun(RunAdded{RunId(1), "key", std::move(spec), 0});
}

Trajectory Episode(const GroupPlan& plan, uint32_t episode, PolicyVersion version = {}) {
  return MakeTrajectory({RunId(1), plan.group, episode}, plan.task, plan.turns, version);
}

TEST(Run, NeverAdmitsMoreThanItsBudgetAndAllOfIt) {
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 23;  // groups of 4 x 2, and 7 left over: 3 x 2, then 1 x 1
  TrainingRun run = RunOf(spec);
  std::vector<int64_t> evaluations;
  while (const auto plan = run.NextGroup(DeviceKind::kHost)) {
    evaluations.push_back(plan->evaluations());
    run.Admit(*plan, DeviceKind::kHost);
  }
  EXPECT_EQ(evaluations, (std::vector<int64_t>{8, 8, 6, 1}));
  EXPECT_TRUE(run.spent());
}

TEST(Run, EachCycleDrawsEveryTrainTaskOnceAndTheSeedDecidesTheOrder) {
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 10000;
  const auto draw = [](RunSpec s) {
    TrainingRun run = RunOf(std::move(s));
    std::vector<std::string> order;
    for (int i = 0; i < 30; ++i) {
      const auto plan = run.NextGroup(DeviceKind::kHost);
      order.push_back(plan->task.value());
      run.Admit(*plan, DeviceKind::kHost);
    }
    return order;
  };
  const auto order = draw(spec);
  for (size_t cycle = 0; cycle < 10; ++cycle)
    EXPECT_EQ(
        std::set<std::string>(order.begin() + 3 * cycle, order.begin() + 3 * cycle + 3).size(), 3u);
  EXPECT_EQ(order, draw(spec));
  spec.seed = 2;
  EXPECT_NE(order, draw(spec));
}

TEST(Run, TasksWithoutTrainCasesForTheDeviceAreNotDrawn) {
  RunSpec spec = RandomSpec();
  for (Task& task : spec.suites[0].tasks) task.host_cases.clear();
  EXPECT_FALSE(RunOf(spec).NextGroup(DeviceKind::kHost).has_value());
  EXPECT_TRUE(RunOf(spec).NextGroup(DeviceKind::kCuda).has_value());
}

TEST(Run, ALearningRunStaysWithinItsStalenessAndGoesOnWhenTrajectoriesAreConsumed) {
  TrainingRun run =
      RunOf(GrammarSpec());  // groups of 4, batches of 8, staleness 1: 16 episodes ahead
  std::vector<GroupPlan> plans;
  while (const auto plan = run.NextGroup(DeviceKind::kHost)) {
    run.Admit(*plan, DeviceKind::kHost);
    plans.push_back(*plan);
  }
  EXPECT_EQ(plans.size(), 4u);
  EXPECT_EQ(run.Capacity(), 0);
  CheckpointDurable checkpoint;
  checkpoint.version = {1, 1};
  for (uint32_t episode = 0; episode < 4; ++episode) {
    const auto seq = run.Accept(Episode(plans[0], episode));
    checkpoint.consumed.push_back({*seq, Fate::kTrained});
  }
  EXPECT_EQ(run.Capacity(), 0) << "accepted, but not consumed";
  run.ledger.Consume(checkpoint);
  EXPECT_EQ(run.Capacity(), 4);
  EXPECT_TRUE(run.NextGroup(DeviceKind::kHost).has_value());
}

TEST(Run, TrajectoriesThatAreTooOldMakeRoomForFreshOnes) {
  TrainingRun run = RunOf(GrammarSpec());
  run.line.Fork({}, 1);
  const auto plan = run.NextGroup(DeviceKind::kHost);
  run.Admit(*plan, DeviceKind::kHost);
  for (uint32_t episode = 0; episode < 4; ++episode) run.Accept(Episode(*plan, episode, {1, 0}));
  EXPECT_EQ(run.Capacity(), 12);
  run.line.Advance({1, 2});  // staleness 1
  EXPECT_EQ(run.Capacity(), 16);
}

TEST(Run, ASmallerGroupIsAdmittedWhenNothingRunsAndAWholeOneWouldNeverFit) {
  RunSpec spec = GrammarSpec();
  spec.algorithm.staleness = 0;
  spec.algorithm.batch_episodes = 4;
  TrainingRun run = RunOf(spec);
  const auto plan = run.NextGroup(DeviceKind::kHost);
  run.Admit(*plan, DeviceKind::kHost);
  for (uint32_t episode = 0; episode < 3; ++episode) run.Accept(Episode(*plan, episode));
  EXPECT_FALSE(run.NextGroup(DeviceKind::kHost).has_value()) << "one still runs";
  run.GiveUp(1, 2);
  run.GroupEnded(plan->group);
  const auto rest = run.NextGroup(DeviceKind::kHost);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(rest->episodes, 2u) << "one alone has no advantage";
}

TEST(Run, InfrastructureIsCountedApartAndIsNeverTheBest) {
  TrainingRun run = RunOf(RandomSpec());
  const auto plan = run.NextGroup(DeviceKind::kHost);
  run.Admit(*plan, DeviceKind::kHost);
  Trajectory trajectory = Episode(*plan, 0);
  trajectory.turns[0].evaluation.outcome = Infrastructure{InfrastructureKind::kDeviceLost, ""};
  trajectory.turns[1].evaluation.outcome = Correct{{}, 1.5};
  EXPECT_FALSE(run.Accept(trajectory).has_value())
      << "nothing is published for a run that does not learn";
  run.GiveUp(3, 6);
  const RunStatus status = run.Status();
  EXPECT_EQ(status.finished_evaluations, 2);
  EXPECT_EQ(status.correct_evaluations, 1);
  EXPECT_EQ(status.infrastructure_evaluations, 7);
  EXPECT_EQ(status.best_speedup, 1.5);
  EXPECT_EQ(status.best_task, plan->task);
}

}  // namespace
}  // namespace warpsmith
