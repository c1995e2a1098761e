// Small records for tests of the coordinator.
#pragma once

#include <string>

#include "coordinator/core/record.h"

namespace warpsmith {

// Three tasks with one train case for every kind of device.
inline Suite SmallSuite() {
  Suite suite;
  suite.name = "small";
  for (const char* name : {"copy", "add", "scale"}) {
    Task task;
    task.id = TaskId(std::string("small/") + name);
    task.cuda_cases = task.host_cases = {Case{CaseRole::kTrain, {{"n", 64}}}};
    suite.tasks.push_back(task);
  }
  return suite;
}

// Groups of 4 episodes x 2 turns.
inline RunSpec RandomSpec() {
  RunSpec spec;
  spec.name = "first";
  spec.suites = {SmallSuite()};
  spec.policy = "random";
  spec.algorithm.turns = 2;
  spec.algorithm.group = 4;
  spec.budget_evaluations = 16;
  return spec;
}

// The same, learning: batches of 8 episodes, one step of staleness.
inline RunSpec GrammarSpec() {
  RunSpec spec = RandomSpec();
  spec.policy = "grammar";
  spec.algorithm.batch_episodes = 8;
  spec.algorithm.staleness = 1;
  spec.budget_evaluations = 1000;
  return spec;
}

inline Trajectory MakeTrajectory(TrajectoryId id, const TaskId& task, int turns,
                                 PolicyVersion version = {}) {
  Trajectory trajectory;
  trajectory.id = id;
  trajectory.task = task;
  for (int i = 0; i < turns; ++i) {
    Turn turn;
    turn.action.version = version;
    turn.action.text = "candidate " + ToString(id) + "/" + std::to_string(i);
    turn.evaluation.task = task;
    turn.evaluation.outcome = Correct{{}, 1.0 + 0.25 * i};
    turn.reward = 1;
    trajectory.turns.push_back(std::move(turn));
  }
  return trajectory;
}

}  // namespace warpsmith
