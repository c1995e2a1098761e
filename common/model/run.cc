#include "common/model/run.h"

namespace warpsmith {

const Task* RunSpec::FindTask(const TaskId& id) const {
  for (const auto& suite : suites)
    for (const auto& task : suite.tasks)
      if (task.id == id) return &task;
  return nullptr;
}

std::vector<const Task*> RunSpec::AllTasks() const {
  std::vector<const Task*> tasks;
  for (const auto& suite : suites)
    for (const auto& task : suite.tasks) tasks.push_back(&task);
  return tasks;
}

}  // namespace warpsmith
