// Tasks that the oracle's tests judge candidates on.
#pragma once

#include <string>

#include "common/model/task.h"

namespace warpsmith {

inline InputSpec FloatInput(const std::string& name, std::vector<std::string> shape) {
  return {.name = name, .shape = std::move(shape)};
}
inline OutputSpec FloatOutput(const std::string& name, std::vector<std::string> shape) {
  return {.name = name, .shape = std::move(shape), .rtol = 1e-4};
}

inline Task SoftmaxTask() {
  Task task;
  task.id = TaskId("test/softmax_rows");
  task.inputs = {FloatInput("x", {"rows", "cols"})};
  task.outputs = {FloatOutput("y", {"rows", "cols"})};
  task.reference =
      "def reference(x: Tensor, rows: int, cols: int) -> Tensor:\n"
      "    return torch.softmax(x, -1)\n";
  task.host_cases = {{CaseRole::kTrain, {{"rows", 16}, {"cols", 64}}},
                     {CaseRole::kEdge, {{"rows", 3}, {"cols", 17}}},
                     {CaseRole::kEdge, {{"rows", 0}, {"cols", 7}}}};
  return task;
}

}  // namespace warpsmith
