// The host device's RunnerDevice: each loaded module is a process of its own, so that "fresh" is
// exec and a fault is a death with a report. Time is what this side reads from the kernel's clocks
// (lane_clock.h), less the measured cost of handing over.
#pragma once

#include <memory>
#include <optional>

#include "worker/device/runner_device.h"
#include "worker/host/cache_flush.h"
#include "worker/host/candidate_process.h"
#include "worker/host/lane_clock.h"

namespace warpsmith {

struct HostRunnerOptions {
  int workers = 0;  // threads of a candidate; 0: the cores of this process's affinity
  // A run that takes longer is killed: Failed with Timeout. The supervisor's own limit is shorter
  // as a rule.
  Duration run_limit = std::chrono::seconds(60);
};

class HostRunnerDevice : public RunnerDevice {
 public:
  explicit HostRunnerDevice(HostRunnerOptions options = {});

  Reply Load(const LoadModule& module) override;
  Reply Bind(const BindBuffers& buffers, std::span<const int> fds) override;
  // Untimed runs alternate between the two orders of threads, so that a missing barrier cannot pass
  // by luck.
  Reply Run(const RunPlan& run) override;

 private:
  // Nothing: done. Else what to reply.
  std::optional<Failed> Command(const host::Command& command, std::span<const int> fds);
  void MeasureHandOver();
  double RunStart() const;

  HostRunnerOptions options_;
  CacheFlusher flusher_;
  std::unique_ptr<CandidateProcess> process_;
  std::optional<LaneClock> clock_;  // of process_
  double charged_us_ = 0;           // on it, when the last command was done
  ResolvedPlan plan_;
  std::vector<KernelInfo> kernels_;
  double hand_over_us_ = 0;
  uint64_t untimed_runs_ = 0;
};

}  // namespace warpsmith
