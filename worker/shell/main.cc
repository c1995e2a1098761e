// warpsmith-worker: registers with a coordinator and evaluates candidates on this host's devices.
#include <iostream>

#include "common/runtime/log.h"
#include "common/runtime/signals.h"
#include "worker/shell/config.h"
#include "worker/shell/worker.h"

int main(int argc, char** argv) {
  using namespace warpsmith;
  InitLog("worker");
  WorkerConfig config;
  Result<ConfigAction> action = LoadConfig(argc, argv, &config);
  if (!action) {
    std::cerr << action.error().message << "\n";
    return ExitStatus(action.error().code);
  }
  if (*action == ConfigAction::kPrinted) return 0;
  StopSignals signals;
  Result<Exit> exit = RunWorkerProcess(config, signals);
  if (!exit) {
    LogError("failed", {{"why", exit.error().message}});
    return ExitStatus(exit.error().code);
  }
  Log(exit->status == 0 ? LogLevel::kInfo : LogLevel::kError, "ended", {{"why", exit->why}});
  return exit->status;
}
