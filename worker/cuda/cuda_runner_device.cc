#include "worker/cuda/cuda_runner_device.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "common/model/dtype.h"
#include "common/model/plan.h"
#include "worker/cuda/nvrtc.h"
#include "worker/cuda/output_capture.h"

namespace warpsmith {

extern const char kRunnerKernels[];

namespace {

constexpr CUstream kStream = nullptr;  // the legacy default stream
// Device heap and printf's buffer take device memory from nobody's account: as little as there is.
constexpr size_t kHeapBytes = 64 * 1024;
constexpr size_t kPrintBytes = 64 * 1024;
constexpr unsigned kPortableCluster = 8;

Failed FailWith(Outcome outcome, std::string output = "") {
  return Failed{std::move(outcome), std::move(output)};
}

Failed OracleMistake(std::string what) {
  return FailWith(Infrastructure{InfrastructureKind::kInternal, std::move(what)});
}

unsigned Product(const std::array<uint32_t, 3>& dims) { return dims[0] * dims[1] * dims[2]; }

// What of a plan the oracle must have got right before anything is launched.
std::optional<std::string> CheckPlan(const LoadModule& module) {
  for (const ResolvedLaunch& launch : module.plan.launches) {
    if (launch.kernel < 0 || launch.kernel >= static_cast<int>(module.kernels.size()))
      return "a launch names a kernel that is not there";
    for (const ResolvedArgument& argument : launch.arguments) {
      if (argument.buffer >= static_cast<int>(module.plan.buffers.size()))
        return "an argument names a buffer that is not there";
      if (argument.type == ParameterType::kUnsupported) return "an argument has no type";
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<CudaRunnerDevice>> CudaRunnerDevice::Create(int index) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  ASSIGN_OR_RETURN(auto context, CudaContext::Create(index));
  ASSIGN_OR_RETURN(const std::string cubin,
                   CompileOwnKernels(context->facts().architecture, "runner.cu", kRunnerKernels));
  const Driver& driver = context->driver();
  driver.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kHeapBytes);
  driver.cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, kPrintBytes);
  driver.cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0);
  ASSIGN_OR_RETURN(auto timer, DeviceTimer::Create(driver, context->facts()));
  std::unique_ptr<CudaRunnerDevice> device(new CudaRunnerDevice(std::move(context)));
  device->timer_ = std::move(timer);
  if (auto prepared = device->Prepare(cubin); !prepared)
    return tl::unexpected<Error>(ToError(prepared.error()));
  return device;
}

CudaStatus CudaRunnerDevice::Prepare(const std::string& cubin) {
  const Driver& driver = context_->driver();
  const char* doing = "preparing the runner's kernels";
  CUDA_TRY(driver.cuModuleLoadData(&own_module_, cubin.data()), doing);
  CUDA_TRY(driver.cuModuleGetFunction(&dirty_shared_, own_module_, "warpsmith_dirty_shared"),
           doing);
  CUDA_TRY(driver.cuFuncSetAttribute(dirty_shared_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(facts().max_shared_bytes)),
           doing);
  return DirtyShared();
}

CudaRunnerDevice::~CudaRunnerDevice() {
  ForgetAll();
  timer_.reset();
  if (own_module_ != nullptr) context_->driver().cuModuleUnload(own_module_);
}

void CudaRunnerDevice::Forget(std::vector<Bound>& set) {
  for (Bound& bound : set) bound.mapping.Unmap(context_->driver());
  set.clear();
}

void CudaRunnerDevice::ForgetAll() {
  context_->driver().cuCtxSynchronize();
  for (auto& [number, set] : sets_) Forget(set);
  sets_.clear();
  kernels_.clear();
  if (module_ != nullptr) context_->driver().cuModuleUnload(module_);
  module_ = nullptr;
}

RunnerDevice::Reply CudaRunnerDevice::Load(const LoadModule& module) {
  ForgetAll();
  if (const auto mistake = CheckPlan(module)) return OracleMistake(*mistake);
  plan_ = module.plan;
  CudaMoment moment = CudaMoment::kLoad;
  std::string problem;
  const CudaStatus loaded = LoadKernels(module, moment, problem);
  if (!problem.empty()) return FailWith(Rejected{problem});
  if (!loaded) return FailWith(OutcomeOf(loaded.error(), moment));
  return Done{};
}

CudaStatus CudaRunnerDevice::LoadKernels(const LoadModule& module, CudaMoment& moment,
                                         std::string& problem) {
  const Driver& driver = context_->driver();
  CUDA_TRY(driver.cuModuleLoadData(&module_, module.binary.data()),
           "loading the candidate's module");
  for (const KernelInfo& kernel : module.kernels) {
    CUfunction function = nullptr;
    CUDA_TRY(driver.cuModuleGetFunction(&function, module_, kernel.symbol.c_str()),
             fmt::format("finding {}", kernel.name));
    kernels_.push_back(function);
  }
  moment = CudaMoment::kLaunch;
  for (size_t i = 0; i < plan_.launches.size(); ++i) {
    const ResolvedLaunch& launch = plan_.launches[i];
    const CUfunction function = kernels_[static_cast<size_t>(launch.kernel)];
    const std::string doing = fmt::format("launch {} ({})", i + 1,
                                          module.kernels[static_cast<size_t>(launch.kernel)].name);
    // The binary's own word on its parameters: an argument that is too short would let the driver
    // read past it.
    size_t offset = 0, size = 0;
    for (size_t p = 0; p < launch.arguments.size(); ++p) {
      if (driver.cuFuncGetParamInfo(function, p, &offset, &size) != CUDA_SUCCESS ||
          size != SizeOf(launch.arguments[p].type)) {
        problem = fmt::format("{}: argument {} does not fit the kernel's parameter", doing, p + 1);
        return {};
      }
    }
    if (driver.cuFuncGetParamInfo(function, launch.arguments.size(), &offset, &size) ==
        CUDA_SUCCESS) {
      problem =
          fmt::format("{}: the kernel has more parameters than the plan has arguments", doing);
      return {};
    }
    if (launch.shared_bytes > 0) {
      int fixed = 0;
      CUDA_TRY(driver.cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
               doing);
      CUDA_TRY(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         static_cast<int>(facts().max_shared_bytes) - fixed),
               doing);
    }
    if (Product(launch.cluster) > kPortableCluster)
      CUDA_TRY(driver.cuFuncSetAttribute(function,
                                         CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
               doing);
  }
  return {};
}

RunnerDevice::Reply CudaRunnerDevice::Bind(const BindBuffers& buffers, std::span<const int> fds) {
  std::vector<Bound> set;
  CudaStatus bound = MapBuffers(buffers, fds, set);
  for (const int fd : fds) close(fd);
  if (!bound) {
    Forget(set);
    return FailWith(OutcomeOf(bound.error(), CudaMoment::kMemory));
  }
  if (buffers.buffers.size() != plan_.buffers.size()) {
    Forget(set);
    return OracleMistake("a set has another number of buffers than the plan");
  }
  if (const auto old = sets_.find(buffers.set); old != sets_.end()) {
    context_->driver().cuCtxSynchronize();
    Forget(old->second);
  }
  sets_[buffers.set] = std::move(set);
  return Done{};
}

CudaStatus CudaRunnerDevice::MapBuffers(const BindBuffers& buffers, std::span<const int> fds,
                                        std::vector<Bound>& set) {
  const Driver& driver = context_->driver();
  size_t next_fd = 0;
  for (const BufferHandle& handle : buffers.buffers) {
    Bound bound;
    bound.size = handle.size;
    if (handle.size > 0) {
      if (next_fd >= fds.size() || handle.offset > handle.mapping_bytes ||
          handle.mapping_bytes - handle.offset < handle.size)
        return tl::unexpected<CudaFailure>({CUDA_ERROR_INVALID_VALUE, "mapping a buffer"});
      CUmemGenericAllocationHandle memory = 0;
      CUDA_TRY(driver.cuMemImportFromShareableHandle(
                   &memory, reinterpret_cast<void*>(static_cast<uintptr_t>(fds[next_fd++])),
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
               "importing a buffer");
      auto mapping = GuardedMapping::Map(driver, context_->device(), memory, handle.mapping_bytes,
                                         handle.access == Access::kReadWrite);
      CUDA_RETURN_IF_FAILED(mapping);
      bound.mapping = *mapping;
      bound.data = mapping->address() + handle.offset;
    }
    set.push_back(bound);
  }
  return {};
}

RunnerDevice::Reply CudaRunnerDevice::Run(const RunPlan& run) {
  for (const uint32_t number : run.sets)
    if (!sets_.contains(number)) return OracleMistake(fmt::format("set {} is not bound", number));

  OutputCapture capture;
  const Driver& driver = context_->driver();
  CudaMoment moment = CudaMoment::kLaunch;
  Done done;
  bool held = true;
  const auto work = [&]() -> CudaStatus {
    if (run.dirty_shared) CUDA_RETURN_IF_FAILED(DirtyShared());
    if (run.timed) {
      const size_t zeroed = static_cast<size_t>(std::count_if(
          plan_.buffers.begin(), plan_.buffers.end(), [](const BufferSpec& b) { return b.zero; }));
      CudaStatus enqueued;
      auto runs = timer_->Time(run.sets.size(), plan_.launches.size() + zeroed, [&](size_t i) {
        enqueued = EnqueuePlan(sets_.at(run.sets[i]));
        return enqueued;
      });
      if (enqueued) moment = CudaMoment::kRun;
      CUDA_RETURN_IF_FAILED(runs);
      held = runs->held;
      done.run_us = std::move(runs->run_us);
      done.sm_clock_mhz = runs->sm_clock_mhz;
    } else {
      for (const uint32_t number : run.sets) CUDA_RETURN_IF_FAILED(EnqueuePlan(sets_.at(number)));
      moment = CudaMoment::kRun;
      CUDA_TRY(driver.cuStreamSynchronize(kStream), "running the candidate");
    }
    return {};
  };
  const CudaStatus worked = work();
  // Also after a launch that was refused: what ran before it must be over, and printed.
  const CUresult rest = driver.cuCtxSynchronize();
  done.output = capture.Finish();
  if (!worked) {
    // A launch call may return what an earlier launch did.
    const Outcome outcome = rest != CUDA_SUCCESS && IsDeviceFault(rest)
                                ? OutcomeOf({rest, "running the candidate"}, CudaMoment::kRun)
                                : OutcomeOf(worked.error(), moment);
    return FailWith(outcome, std::move(done.output));
  }
  if (rest != CUDA_SUCCESS)
    return FailWith(OutcomeOf({rest, "running the candidate"}, CudaMoment::kRun),
                    std::move(done.output));
  if (!held)
    return FailWith(Infrastructure{InfrastructureKind::kTooNoisy,
                                   "the host took more than 50 ms to enqueue a timed sequence"},
                    std::move(done.output));
  return done;
}

CudaStatus CudaRunnerDevice::DirtyShared() {
  auto bytes = static_cast<unsigned>(facts().max_shared_bytes / 4 * 4);
  unsigned pattern = 0xFFF10000u | (0x7FF1u + dirt_++ % 14);
  void* arguments[] = {&bytes, &pattern};
  // One such block fills an SM: twice as many blocks as SMs reach all of them.
  CUDA_TRY(
      context_->driver().cuLaunchKernel(dirty_shared_, 2 * static_cast<unsigned>(facts().sm_count),
                                        1, 1, 1024, 1, 1, bytes, kStream, arguments, nullptr),
      "dirtying shared memory");
  return {};
}

CudaStatus CudaRunnerDevice::EnqueuePlan(const std::vector<Bound>& set) {
  for (size_t i = 0; i < plan_.buffers.size(); ++i)
    if (plan_.buffers[i].zero && set[i].size > 0)
      CUDA_TRY(context_->driver().cuMemsetD8Async(set[i].data, 0, set[i].size, kStream),
               fmt::format("zero-filling {}", plan_.buffers[i].name));
  for (const ResolvedLaunch& launch : plan_.launches) CUDA_RETURN_IF_FAILED(Launch(launch, set));
  return {};
}

CudaStatus CudaRunnerDevice::Launch(const ResolvedLaunch& launch, const std::vector<Bound>& set) {
  std::array<uint64_t, kMaxArguments> values;
  std::array<void*, kMaxArguments> pointers;
  for (size_t i = 0; i < launch.arguments.size() && i < kMaxArguments; ++i) {
    const ResolvedArgument& argument = launch.arguments[i];
    values[i] = 0;
    if (argument.buffer >= 0)
      values[i] = set[static_cast<size_t>(argument.buffer)].data;
    else
      std::copy(argument.bits.begin(), argument.bits.end(), reinterpret_cast<uint8_t*>(&values[i]));
    pointers[i] = &values[i];
  }
  CUlaunchAttribute cluster{};
  CUlaunchConfig config{};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.shared_bytes;
  config.hStream = kStream;
  if (Product(launch.cluster) > 1) {
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = launch.cluster[0];
    cluster.value.clusterDim.y = launch.cluster[1];
    cluster.value.clusterDim.z = launch.cluster[2];
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  CUDA_TRY(context_->driver().cuLaunchKernelEx(
               &config, kernels_[static_cast<size_t>(launch.kernel)], pointers.data(), nullptr),
           "launching");
  return {};
}

}  // namespace warpsmith
