// What judges candidates, as a worker's shell and `warpsmith eval` see it. Real: child processes
// (worker/shell/process_evaluator.h). For learning and chaos tests: worker/simulated.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/model/outcome.h"
#include "common/model/task.h"

namespace warpsmith {

struct EvaluationOrder {
  Task task;
  std::string candidate;  // text
  Depth depth = Depth::kScreen;
  int device_index = 0;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // The lanes it has, in the order of device_index.
  virtual std::vector<DeviceFacts> Devices() const = 0;

  // Judges one candidate. `done` is called exactly once, on a thread of the evaluator's, also when
  // the evaluator is destroyed before (Infrastructure kWorkerLost). Orders overlap: one compiles
  // while another runs; orders of one lane run in the order given. May be called from any thread.
  virtual void Submit(EvaluationOrder order, std::function<void(Evaluation)> done) = 0;
};

}  // namespace warpsmith
