// The configuration of warpsmith-worker.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/runtime/config.h"

namespace warpsmith {

struct WorkerConfig {
  std::string coordinator = kDefaultCoordinatorAddress;
  std::string device = "auto";  // auto, cuda, host, simulated
  int capacity = 2;
  std::string directory = "worker";
  int compilers = 0;
  Duration drain_grace = std::chrono::seconds(30);
  std::string policies = "grammar,random";
  std::string policy_program;  // empty: warpsmith-policy beside this program
  int simulated_devices = 1;
  Duration simulated_delay{};
  int64_t simulated_seed = 1;
  double simulated_trouble = 0;
};

// Reads flags, file and environment; see common/runtime/config.h.
Result<ConfigAction> LoadConfig(int argc, const char* const* argv, WorkerConfig* config);

// "grammar,random" -> its words.
std::vector<std::string> SplitWords(const std::string& list);

}  // namespace warpsmith
