// RunnerDevice on a CUDA device: maps the oracle's buffers (inputs read-only, so that a write to
// one is a hardware fault here alone), loads the candidate's cubin afresh, launches by the driver
// API.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/cuda/cuda_context.h"
#include "worker/cuda/device_timer.h"
#include "worker/cuda/outcomes.h"
#include "worker/device/runner_device.h"

namespace warpsmith {

// Belongs to the thread that makes it. After a reply of DeviceFault the context is lost: end the
// process.
class CudaRunnerDevice : public RunnerDevice {
 public:
  // kMissing: no driver, no such device, no NVRTC. Sets CUDA_MODULE_LOADING=EAGER for the process,
  // so that no first launch loads anything: make it before anything else starts the driver.
  static Result<std::unique_ptr<CudaRunnerDevice>> Create(int index);
  ~CudaRunnerDevice() override;

  const DeviceFacts& facts() const { return context_->facts(); }
  Reply Load(const LoadModule& module) override;
  Reply Bind(const BindBuffers& buffers, std::span<const int> fds) override;
  Reply Run(const RunPlan& run) override;

 private:
  struct Bound {
    GuardedMapping mapping;
    CUdeviceptr data = 0;
    uint64_t size = 0;
  };

  explicit CudaRunnerDevice(std::unique_ptr<CudaContext> context) : context_(std::move(context)) {}

  CudaStatus Prepare(const std::string& cubin);
  void Forget(std::vector<Bound>& set);
  void ForgetAll();
  CudaStatus LoadKernels(const LoadModule& module, CudaMoment& moment, std::string& problem);
  CudaStatus MapBuffers(const BindBuffers& buffers, std::span<const int> fds,
                        std::vector<Bound>& set);
  CudaStatus DirtyShared();
  // Zero-fills and launches, in the legacy default stream.
  CudaStatus EnqueuePlan(const std::vector<Bound>& set);
  CudaStatus Launch(const ResolvedLaunch& launch, const std::vector<Bound>& set);

  std::unique_ptr<CudaContext> context_;
  std::unique_ptr<DeviceTimer> timer_;
  CUmodule own_module_ = nullptr;
  CUfunction dirty_shared_ = nullptr;
  uint32_t dirt_ = 0;

  CUmodule module_ = nullptr;
  std::vector<CUfunction> kernels_;
  ResolvedPlan plan_;
  std::map<uint32_t, std::vector<Bound>> sets_;
};

}  // namespace warpsmith
