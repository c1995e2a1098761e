#include "common/model/run.h"

namespace warpsmith {

const Task* FindTask(const RunSpec& spec, const TaskId& id) {
  for (const auto& suite : spec.suites)
    for (const auto& task : suite.tasks)
      if (task.id == id) return &task;
  return nullptr;
}

std::vector<const Task*> AllTasks(const RunSpec& spec) {
  std::vector<const Task*> tasks;
  for (const auto& suite : spec.suites)
    for (const auto& task : suite.tasks) tasks.push_back(&task);
  return tasks;
}

}  // namespace warpsmith
