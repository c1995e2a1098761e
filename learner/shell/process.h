// A learner process: its configuration, and its parts put together.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/runtime/config.h"
#include "common/runtime/signals.h"
#include "learner/shell/run_trainer.h"

namespace warpsmith {

struct LearnerConfig {
  std::string coordinator = kDefaultCoordinatorAddress;
  std::string directory = "runs/learner";
  std::string weights_endpoint = "tcp://127.0.0.1:*";
  std::string weights_address;
  std::string redis_password;
  int keep = 3;
  Duration repeat = std::chrono::seconds(2);
};

// kInvalidInput lists every problem.
Result<ConfigAction> LoadConfig(int argc, const char* const* argv, LearnerConfig* config);

// Runs until asked to stop. The step under way is finished or, killed, made again by the next
// process.
Status RunLearnerProcess(const LearnerConfig& config, StopSignals& signals,
                         MakeTrainer make_trainer);

}  // namespace warpsmith
