// An Evaluator without devices: outcomes by a cost model (cost_model.h), each after a fixed delay.
// For learning and chaos tests; every record names the device kind "simulated".
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/runtime/bounded_queue.h"
#include "worker/device/evaluator.h"

namespace warpsmith {

struct SimulatedOptions {
  int devices = 1;
  uint64_t seed = 1;   // of the noise
  Duration delay{};    // of each evaluation, on its lane
  double trouble = 0;  // probability of an infrastructure outcome, by seed and order
};

class SimulatedEvaluator : public Evaluator {
 public:
  explicit SimulatedEvaluator(SimulatedOptions options);
  ~SimulatedEvaluator() override;

  std::vector<DeviceFacts> Devices() const override;
  void Submit(EvaluationOrder order, std::function<void(Evaluation)> done) override;

 private:
  struct Lane;
  void Serve(Lane& lane);
  Evaluation Judge(const EvaluationOrder& order, uint64_t number) const;

  const SimulatedOptions options_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace warpsmith
