// warpsmith-learner: trains the policies of runs on the trajectories that a coordinator publishes.
#include <iostream>
#include <memory>

#include "common/runtime/log.h"
#include "common/runtime/signals.h"
#include "learner/shell/process.h"
#include "learner/torch/trainer.h"

namespace warpsmith {
namespace {

Result<TrainerPort> MakePort(const RunSpec& spec) {
  ASSIGN_OR_RETURN(Trainer made, Trainer::Init(spec, spec.seed));
  auto trainer = std::make_shared<Trainer>(std::move(made));
  return TrainerPort{
      .step = [trainer](std::span<const Trajectory> batch) { return trainer->Step(batch).report; },
      .load = [trainer](const std::string& path) { return trainer->Load(path); },
      .save = [trainer](const std::string& path) { return trainer->Save(path); }};
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  using namespace warpsmith;
  InitLog("learner");
  LearnerConfig config;
  const Result<ConfigAction> action = LoadConfig(argc, argv, &config);
  if (!action) {
    std::cerr << action.error().message << "\n";
    return ExitStatus(action.error().code);
  }
  if (*action == ConfigAction::kPrinted) return 0;
  StopSignals signals;
  const Status ended = RunLearnerProcess(config, signals, MakePort);
  if (ended) return 0;
  LogError("failed", {{"why", ended.error().message}});
  return ExitStatus(ended.error().code);
}
