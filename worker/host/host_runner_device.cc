#include "worker/host/host_runner_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "worker/host/cpu_facts.h"
#include "worker/host/fault_text.h"

namespace warpsmith {
namespace {

constexpr int kHandOverSamples = 15;
constexpr double kLeastRunUs = 0.01;  // a run takes some time, whatever the clock says

Failed Internal(std::string detail) {
  return {Infrastructure{InfrastructureKind::kInternal, std::move(detail)}, ""};
}

// A plan as the runtime reads it, or what it cannot launch.
std::variant<host::Program, Failed> MakeProgram(const LoadModule& module, int workers) {
  const ResolvedPlan& plan = module.plan;
  if (plan.buffers.size() > host::kMaxHostBuffers || plan.launches.size() > host::kMaxHostLaunches)
    return Internal("host device: the plan has too many buffers or launches");
  host::Program program;
  program.workers = static_cast<uint32_t>(workers);
  program.buffer_count = static_cast<uint32_t>(plan.buffers.size());
  program.launch_count = static_cast<uint32_t>(plan.launches.size());
  for (size_t i = 0; i < plan.buffers.size(); ++i) program.zero[i] = plan.buffers[i].zero;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const ResolvedLaunch& from = plan.launches[i];
    host::Launch& to = program.launches[i];
    if (from.kernel < 0 || static_cast<size_t>(from.kernel) >= module.kernels.size() ||
        from.arguments.size() > host::kMaxHostArguments)
      return Internal("host device: a launch names no kernel, or has too many arguments");
    const uint64_t threads = uint64_t{from.block[0]} * from.block[1] * from.block[2];
    const uint64_t blocks = uint64_t{from.grid[0]} * from.grid[1] * from.grid[2];
    if (threads == 0 || threads > host::kMaxHostThreads || blocks == 0)
      return Failed{LaunchError{fmt::format("invalid configuration: {} blocks of {} threads",
                                            blocks, threads)},
                    ""};
    if (from.shared_bytes > host::kMaxHostShared)
      return Failed{ResourceError{fmt::format("dynamic shared memory of {} bytes; the limit is {}",
                                              from.shared_bytes, host::kMaxHostShared)},
                    ""};
    to.kernel = from.kernel;
    std::copy(from.grid.begin(), from.grid.end(), to.grid);
    std::copy(from.block.begin(), from.block.end(), to.block);
    to.argument_count = static_cast<uint32_t>(from.arguments.size());
    for (size_t a = 0; a < from.arguments.size(); ++a) {
      const int buffer = from.arguments[a].buffer;
      if (buffer >= static_cast<int>(plan.buffers.size()))
        return Internal("host device: an argument names no buffer");
      to.arguments[a].buffer = buffer;
      std::memcpy(&to.arguments[a].bits, from.arguments[a].bits.data(), sizeof(uint64_t));
    }
  }
  return program;
}

}  // namespace

HostRunnerDevice::HostRunnerDevice(HostRunnerOptions options)
    : options_(options), flusher_(PrivateCacheBytes()) {
  if (options_.workers <= 0) options_.workers = LaneCores();
}

std::optional<Failed> HostRunnerDevice::Command(const host::Command& command,
                                                std::span<const int> fds) {
  if (process_ == nullptr) return Internal("host device: no module is loaded");
  const auto answer = process_->Obey(command, fds, options_.run_limit);
  if (answer && answer->ok != 0) {
    if (clock_) charged_us_ = clock_->Now();
    return std::nullopt;
  }
  std::string output = process_->TakeOutput();
  if (answer) return Internal(fmt::format("host device: {}", answer->text));
  const Outcome outcome = DescribeDeath(process_->Death(), plan_, kernels_);
  process_.reset();
  return Failed{outcome, std::move(output)};
}

RunnerDevice::Reply HostRunnerDevice::Load(const LoadModule& module) {
  process_.reset();
  clock_.reset();
  untimed_runs_ = 0;
  plan_ = module.plan;
  kernels_ = module.kernels;
  auto program = MakeProgram(module, options_.workers);
  if (auto* failed = std::get_if<Failed>(&program)) return *failed;
  auto process = CandidateProcess::Start(module.binary, std::get<host::Program>(program));
  if (!process) return Internal(process.error().message);
  process_ = std::move(*process);
  clock_.emplace(options_.workers, process_->pid());
  MeasureHandOver();
  return Done{};
}

// CPU time is charged from the last command on: what a candidate goes on doing after it has
// answered is a part of its next run.
double HostRunnerDevice::RunStart() const {
  return options_.workers == 1 ? charged_us_ : clock_->Now();
}

// Before any of the candidate's code has run, so that it has no say in it.
void HostRunnerDevice::MeasureHandOver() {
  std::vector<double> samples;
  for (int i = 0; i < kHandOverSamples; ++i) {
    const double start = RunStart();
    if (Command(host::Command{}, {})) return;
    samples.push_back(charged_us_ - start);
  }
  std::nth_element(samples.begin(), samples.begin() + kHandOverSamples / 2, samples.end());
  hand_over_us_ = samples[kHandOverSamples / 2];
}

RunnerDevice::Reply HostRunnerDevice::Bind(const BindBuffers& buffers, std::span<const int> fds) {
  const auto close_all = [&] {
    for (const int fd : fds) close(fd);
  };
  host::Command command;
  command.kind = host::CommandKind::kBind;
  command.set = buffers.set;
  std::optional<Failed> failed;
  size_t wanted = 0;
  if (buffers.buffers.size() != plan_.buffers.size()) {
    failed = Internal("host device: another number of buffers than the plan's");
  } else {
    for (size_t i = 0; i < buffers.buffers.size(); ++i) {
      const BufferHandle& handle = buffers.buffers[i];
      if (handle.size > 0) ++wanted;
      if (handle.offset > handle.mapping_bytes ||
          handle.mapping_bytes - handle.offset < handle.size)
        failed = Internal("host device: a buffer lies outside its mapping");
      command.mappings[i] = {handle.mapping_bytes, handle.offset, handle.size,
                             handle.access == Access::kReadWrite ? 1u : 0u};
    }
    if (wanted != fds.size())
      failed = Internal("host device: another number of descriptors than buffers");
  }
  if (!failed) failed = Command(command, fds);
  close_all();
  if (failed) return *failed;
  return Done{};
}

RunnerDevice::Reply HostRunnerDevice::Run(const RunPlan& run) {
  Done done;
  for (const uint32_t set : run.sets) {
    host::Command command;
    command.kind = host::CommandKind::kRun;
    command.set = set;
    command.dirty_shared = run.dirty_shared;
    if (run.timed)
      flusher_.Flush();
    else
      command.reversed = untimed_runs_++ % 2;
    const double start = RunStart();
    if (auto failed = Command(command, {})) {
      failed->output = done.output + failed->output;
      return *failed;
    }
    const double us = charged_us_ - start;
    if (run.timed) done.run_us.push_back(std::max(us - hand_over_us_, kLeastRunUs));
    done.output += process_->TakeOutput();
  }
  return done;
}

}  // namespace warpsmith
