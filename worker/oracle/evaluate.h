// The evaluation of one candidate on one device, from loading to its score (docs/design.md,
// "Evaluation").
// Thread-compatible: the oracle's one thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "schema/child.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/bench.h"
#include "worker/oracle/case_judge.h"
#include "worker/oracle/runner_link.h"

namespace warpsmith {

class Judge {
 public:
  // Both must outlive it.
  Judge(OracleDevice& device, RunnerLink& runner) : device_(device), runner_(runner) {}

  // Never fails otherwise than by an outcome. Content comes from a secret seed of its own.
  EvaluateReply Evaluate(const EvaluateRequest& request);

 private:
  Outcome Run(const EvaluateRequest& request, std::vector<StageTime>& stages, PartTimes& parts);
  Result<KnownTask*> Know(const Task& task);

  static constexpr size_t kTasksKept = 32;

  OracleDevice& device_;
  RunnerLink& runner_;
  std::list<std::unique_ptr<KnownTask>> known_;  // the last used first
};

}  // namespace warpsmith
