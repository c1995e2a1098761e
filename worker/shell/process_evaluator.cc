#include "worker/shell/process_evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "common/base/check.h"
#include "common/model/device_kind.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/log.h"
#include "common/runtime/sha256.h"
#include "worker/shell/compiled.h"
#include "worker/shell/compiler_pool.h"
#include "worker/shell/cores.h"
#include "worker/shell/lane.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCompilers = 8;

// How many devices of a kind to try, without calling a driver here: its device nodes, or what the
// user left visible. The oracles tell which of them work.
int CountDevices(const DeviceNodes& kind) {
  const std::string prefix = kind.prefix;
  if (prefix.empty()) return 1;
  int nodes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    std::string name = entry.path().filename().string();
    bool numbered = name.size() > prefix.size() && name.starts_with(prefix) &&
                    std::all_of(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()),
                                name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (numbered) ++nodes;
  }
  const char* visible = std::getenv(kind.visible);
  if (!visible || nodes == 0) return nodes;
  std::string list = visible;
  if (list.empty() || list == "-1") return 0;
  return static_cast<int>(std::count(list.begin(), list.end(), ',')) + 1;
}

}  // namespace

ChildPrograms ChildPrograms::Installed() {
  fs::path folder = ProgramDirectory();
  return {folder / "warpsmith-compiler", folder / "warpsmith-oracle", folder / "warpsmith-runner"};
}

struct ProcessEvaluator::Impl {
  Options options;
  std::vector<DeviceFacts> devices;
  std::vector<std::unique_ptr<Lane>> lanes;  // outlive the pool, whose threads call them
  std::unique_ptr<CompilerPool> pool;

  // Starts the lanes of one kind; those that cannot work are left out. The reason of the last one.
  std::string StartLanes(DeviceKind kind, int count, const std::vector<int>& cores) {
    std::vector<std::unique_ptr<Lane>> started;
    for (int index = 0; index < count; ++index) {
      started.push_back(std::make_unique<Lane>(LaneOptions{.kind = kind,
                                                           .index = index,
                                                           .programs = options.programs,
                                                           .limits = options.limits,
                                                           .log_directory = options.log_directory,
                                                           .cores = cores}));
    }
    std::string why;
    for (auto& lane : started) {
      Result<DeviceFacts> facts = lane->Ready();
      if (facts) {
        LogInfo("device", {{"kind", ToString(facts->kind)},
                           {"index", facts->index},
                           {"name", facts->name},
                           {"architecture", facts->architecture}});
        devices.push_back(*std::move(facts));
        lanes.push_back(std::move(lane));
      } else {
        why = facts.error().message;
        LogWarn("no_device", {{"kind", ToString(kind)}, {"why", why}});
      }
    }
    return why;
  }
};

ProcessEvaluator::ProcessEvaluator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ProcessEvaluator>> ProcessEvaluator::Start(Options options) {
  const auto words = RealDeviceWords();
  if (std::find(words.begin(), words.end(), options.device) == words.end()) {
    return Fail(ErrorCode::kInvalidInput, fmt::format("no device '{}': write one of {}",
                                                      options.device, fmt::join(words, ", ")));
  }
  for (const fs::path& program :
       {options.programs.compiler, options.programs.oracle, options.programs.runner}) {
    std::error_code ignored;
    if (!fs::exists(program, ignored)) {
      return Fail(ErrorCode::kMissing,
                  "no program " + program.string() + ": build or install all of Warpsmith");
    }
  }
  if (!options.log_directory.empty()) RETURN_IF_ERROR(MakeDirectories(options.log_directory));

  auto impl = std::make_unique<Impl>();
  impl->options = options;
  CorePlan cores = SplitCores(AllowedCores());
  // All devices of the best kind that works here.
  std::string why;
  bool cores_owned = false;
  for (const DeviceTraits& traits : AllDeviceTraits()) {
    if (!impl->lanes.empty()) break;
    if (traits.modelled) continue;
    if (options.device != "auto" && options.device != ToString(traits.kind)) continue;
    cores_owned = traits.shares_host_cores;
    const int count = CountDevices(traits.nodes);
    why = count == 0 ? fmt::format("this machine has no {}", traits.noun)
                     : fmt::format("no {} device: {}", ToString(traits.kind),
                                   impl->StartLanes(traits.kind, count,
                                                    cores_owned ? cores.lane : std::vector<int>{}));
  }
  if (impl->lanes.empty()) return Fail(ErrorCode::kMissing, why);

  const std::vector<int> others = cores_owned ? cores.rest : AllowedCores();
  int compilers = options.compilers > 0
                      ? options.compilers
                      : std::clamp(static_cast<int>(others.size()), 1, kMostCompilers);
  ASSIGN_OR_RETURN(impl->pool,
                   CompilerPool::Start({.compilers = compilers,
                                        .program = options.programs.compiler,
                                        .log_directory = options.log_directory,
                                        .scratch_directory = options.scratch_directory,
                                        .cores = cores_owned ? cores.rest : std::vector<int>{},
                                        .limits = options.limits}));
  return std::unique_ptr<ProcessEvaluator>(new ProcessEvaluator(std::move(impl)));
}

ProcessEvaluator::~ProcessEvaluator() = default;

std::vector<DeviceFacts> ProcessEvaluator::Devices() const { return impl_->devices; }

std::vector<int> ProcessEvaluator::ChildPids() const {
  std::vector<int> pids = impl_->pool->ChildPids();
  for (const auto& lane : impl_->lanes) {
    std::vector<int> of_lane = lane->ChildPids();
    pids.insert(pids.end(), of_lane.begin(), of_lane.end());
  }
  return pids;
}

void ProcessEvaluator::Submit(EvaluationOrder order, std::function<void(Evaluation)> done) {
  CHECK(order.device_index >= 0 && static_cast<size_t>(order.device_index) < impl_->devices.size(),
        "an order names one of the evaluator's lanes");
  const auto index = static_cast<size_t>(order.device_index);
  const DeviceFacts& device = impl_->devices[index];
  Lane* lane = impl_->lanes[index].get();
  Evaluation record{.candidate_hash = Sha256Hex(order.candidate),
                    .task = order.task.id,
                    .device = device,
                    .depth = order.depth};
  CompileOrder compile{.text = std::move(order.candidate),
                       .device_kind = device.kind,
                       .architecture = device.architecture,
                       .versions = device.toolkit + "/" + device.driver,
                       .fresh = order.depth == Depth::kConfirm};
  const size_t log_bytes = impl_->options.limits.log_bytes;
  auto compiled = [lane, log_bytes, record = std::move(record), task = std::move(order.task),
                   done = std::move(done)](CompileDone result) mutable {
    record.stages.push_back({Stage::kCompile, result.ms});
    if (auto* outcome = std::get_if<Outcome>(&result.result)) {
      if (auto* error = std::get_if<CompileError>(outcome)) record.log = error->log;
      record.outcome = std::move(*outcome);
      return done(std::move(record));
    }
    auto candidate = std::get<std::shared_ptr<const CompiledCandidate>>(result.result);
    record.kernels = candidate->kernels;
    record.log = candidate->log;
    Depth depth = record.depth;
    lane->Submit({.task = std::move(task),
                  .compiled = std::move(candidate),
                  .depth = depth,
                  .done = [log_bytes, record = std::move(record),
                           done = std::move(done)](EvaluateReply reply) mutable {
                    record.outcome = std::move(reply.outcome);
                    record.stages.insert(record.stages.end(), reply.stages.begin(),
                                         reply.stages.end());
                    record.log = CutLog(record.log + reply.log, log_bytes);
                    done(std::move(record));
                  }});
  };
  impl_->pool->Submit(std::move(compile), std::move(compiled));
}

}  // namespace warpsmith
