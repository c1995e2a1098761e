// warpsmith-coordinator: schedules kernel tasks to workers, keeps the truth, feeds learners.
#include <iostream>

#include "common/runtime/log.h"
#include "common/runtime/signals.h"
#include "coordinator/shell/config.h"
#include "coordinator/shell/process.h"

int main(int argc, char** argv) {
  using namespace warpsmith;
  InitLog("coordinator");
  CoordinatorConfig config;
  const auto action = LoadCoordinatorConfig(argc, argv, &config);
  if (!action) {
    std::cerr << action.error().message << "\n";
    return ExitStatus(action.error().code);
  }
  if (*action == ConfigAction::kPrinted) return 0;
  StopSignals signals;
  if (const Status ran = RunCoordinator(config, signals); !ran) {
    LogError("failed", {{"why", ran.error().message}});
    return ExitStatus(ran.error().code);
  }
  return 0;
}
