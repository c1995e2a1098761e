#include "worker/shell/worker.h"

#include <filesystem>
#include <memory>
#include <optional>

#include "common/model/device_kind.h"
#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/log.h"
#include "worker/shell/cores.h"
#include "worker/shell/loop.h"
#include "worker/shell/policy_child.h"
#include "worker/shell/process_evaluator.h"
#include "worker/shell/weights_puller.h"
#include "worker/simulated/simulated_evaluator.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

// What a worker keeps in these folders is emptied when it starts. Where no worker has lived yet,
// what stands there is somebody else's.
Status CheckOwn(const fs::path& directory) {
  std::error_code ignored;
  if (fs::exists(directory / "lock", ignored) && fs::is_directory(directory / "log", ignored))
    return {};
  for (const char* name : {"weights", "scratch"}) {
    const fs::path folder = directory / name;
    if (!fs::exists(fs::symlink_status(folder, ignored))) continue;
    if (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)) continue;
    return Fail(ErrorCode::kInvalidInput,
                folder.string() +
                    " is there and no worker made it, and this one would empty it: "
                    "choose another --directory");
  }
  return {};
}

Result<std::unique_ptr<Evaluator>> MakeEvaluator(const WorkerConfig& config, const fs::path& logs) {
  const auto kind = ParseWord<DeviceKind>(config.device);
  if (kind && TraitsOf(*kind).modelled) {
    return std::make_unique<SimulatedEvaluator>(
        SimulatedOptions{.devices = config.simulated_devices,
                         .seed = static_cast<uint64_t>(config.simulated_seed),
                         .delay = config.simulated_delay,
                         .trouble = config.simulated_trouble});
  }
  fs::path scratch = fs::path(config.directory) / "scratch";
  std::error_code ignored;
  fs::remove_all(scratch, ignored);  // of a worker that was killed
  ASSIGN_OR_RETURN(auto evaluator, ProcessEvaluator::Start({.device = config.device,
                                                            .compilers = config.compilers,
                                                            .log_directory = logs,
                                                            .scratch_directory = scratch}));
  // Such a lane owns its cores; this thread and what it starts from here on use the others.
  if (TraitsOf(evaluator->Devices().front().kind).shares_host_cores) {
    StayOn(SplitCores(AllowedCores()).rest);
  }
  return evaluator;
}

}  // namespace

Result<Exit> RunWorkerProcess(const WorkerConfig& config, StopSignals& signals) {
  RETURN_IF_ERROR(CheckOwn(config.directory));
  const fs::path logs = fs::path(config.directory) / "log";
  RETURN_IF_ERROR(MakeDirectories(logs));
  // Two workers in one folder would empty each other's scratch.
  ASSIGN_OR_RETURN(const UniqueFd lock, LockDirectory(config.directory, "worker"));
  const fs::path policy = config.policy_program.empty() ? ProgramDirectory() / "warpsmith-policy"
                                                        : fs::path(config.policy_program);
  const std::vector<std::string> policies = SplitWords(config.policies);
  if (!policies.empty() && !fs::exists(policy)) {
    return Fail(ErrorCode::kMissing,
                "no program " + policy.string() + ": install it, or run with --policies ''");
  }
  ASSIGN_OR_RETURN(auto evaluator, MakeEvaluator(config, logs));
  const std::string name = MakeRoutingId("worker");
  ASSIGN_OR_RETURN(auto connected, DealerTransport::Connect(config.coordinator, name));
  // Shared with the thread that watches signals, which outlives this function.
  std::shared_ptr<DealerTransport> transport = std::move(connected);
  WorkerInbox inbox(*transport);
  auto tell = [&](WorkerEvent event) { inbox.Tell(std::move(event)); };
  std::optional<PolicyChild> child;
  if (!policies.empty()) child.emplace(PolicyChild::Options{policy, logs}, tell);
  WeightsPuller puller({.directory = fs::path(config.directory) / "weights"}, tell);
  signals.Watch([transport] { transport->Wake(); });

  LogInfo("started", {{"worker", name},
                      {"coordinator", config.coordinator},
                      {"device", ToString(evaluator->Devices().front().kind)}});
  Exit exit = RunWorker({.name = name,
                         .devices = evaluator->Devices(),
                         .policies = policies,
                         .capacity = static_cast<uint32_t>(config.capacity)},
                        {.transport = *transport,
                         .inbox = inbox,
                         .evaluator = *evaluator,
                         .ask_policy = [&](ToPolicy message) { child->Ask(std::move(message)); },
                         .pull_weights = [&](WeightsAnnouncement a) { puller.Pull(std::move(a)); },
                         .stop_requested = [&] { return signals.requested(); },
                         .drain_grace = config.drain_grace});
  evaluator.reset();  // its last answers go to the inbox
  return exit;
}

}  // namespace warpsmith
