#include "worker/cuda/cuda_oracle_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/check.h"
#include "worker/cuda/nvrtc.h"
#include "worker/device/buffer_content.h"

namespace warpsmith {

extern const char kOracleKernels[];
extern const char kPhilox[];
extern const char kContentValue[];
extern const char kCompareValue[];

namespace {

constexpr CUstream kStream = nullptr;  // the legacy default stream
constexpr uint64_t kEndAlignment = 16;
constexpr unsigned kCompareThreads = 256;  // text/oracle.cu reduces as many
// libtorch's share of a run's commands, for cutting long sequences: an eager chain of this many
// kernels.
constexpr size_t kCommandsOfARun = 20;
constexpr int kTimingAttempts = 3;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

Status ToStatus(CudaStatus status) {
  if (!status) return tl::unexpected<Error>(ToError(status.error()));
  return {};
}

}  // namespace

Result<std::unique_ptr<CudaOracleDevice>> CudaOracleDevice::Create(int index) {
  ASSIGN_OR_RETURN(auto context, CudaContext::Create(index));
  ASSIGN_OR_RETURN(const std::string cubin,
                   CompileOwnKernels(context->facts().architecture, "oracle.cu", kOracleKernels,
                                     {{"common/base/philox.h", kPhilox},
                                      {"worker/device/content_value.h", kContentValue},
                                      {"worker/device/compare_value.h", kCompareValue}}));
  ASSIGN_OR_RETURN(auto timer, DeviceTimer::Create(context->driver(), context->facts()));
  std::unique_ptr<CudaOracleDevice> device(new CudaOracleDevice(std::move(context)));
  device->timer_ = std::move(timer);
  RETURN_IF_ERROR(ToStatus(device->Prepare(cubin)));
  return device;
}

CudaStatus CudaOracleDevice::Prepare(const std::string& cubin) {
  const Driver& driver = context_->driver();
  const char* doing = "preparing the oracle's kernels";
  auto granularity = SharedMemoryGranularity(driver, context_->device());
  CUDA_RETURN_IF_FAILED(granularity);
  granularity_ = *granularity;
  CUDA_TRY(driver.cuModuleLoadData(&module_, cubin.data()), doing);
  for (const Dtype dtype :
       {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16, Dtype::kInt64,
        Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kUint8, Dtype::kBool}) {
    const std::string name = fmt::format("warpsmith_fill_{}", ToString(dtype));
    CUDA_TRY(driver.cuModuleGetFunction(&fill_[dtype], module_, name.c_str()), doing);
  }
  for (const Dtype dtype : {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16}) {
    const std::string name = fmt::format("warpsmith_compare_{}", ToString(dtype));
    CUDA_TRY(driver.cuModuleGetFunction(&compare_[dtype], module_, name.c_str()), doing);
  }
  compare_blocks_ = static_cast<unsigned>(std::max(1, context_->facts().sm_count)) * 8;
  CUDA_TRY(driver.cuMemAlloc(&sums_, compare_blocks_ * sizeof(ValueSums)), doing);
  CUDA_TRY(driver.cuModuleGetFunction(&find_damage_, module_, "warpsmith_find_damage"), doing);
  CUDA_TRY(driver.cuModuleGetFunction(&digest_, module_, "warpsmith_digest"), doing);
  CUDA_TRY(driver.cuMemAlloc(&scratch_, sizeof(uint64_t)), doing);
  return {};
}

CudaOracleDevice::~CudaOracleDevice() {
  const Driver& driver = context_->driver();
  for (auto& [id, mapping] : mappings_) mapping.Unmap(driver);
  if (scratch_ != 0) driver.cuMemFree(scratch_);
  if (sums_ != 0) driver.cuMemFree(sums_);
  timer_.reset();
  if (module_ != nullptr) driver.cuModuleUnload(module_);
}

Result<OracleBuffer> CudaOracleDevice::Allocate(uint64_t bytes, Access access,
                                                Placement placement) {
  auto buffer = AllocateBuffer(bytes, access, placement);
  if (!buffer) return tl::unexpected<Error>(ToError(buffer.error()));
  return std::move(*buffer);
}

CudaResult<OracleBuffer> CudaOracleDevice::AllocateBuffer(uint64_t bytes, Access access,
                                                          Placement placement) {
  OracleBuffer buffer;
  buffer.id = next_id_++;
  buffer.handle.access = access;
  buffer.handle.size = bytes;
  if (bytes == 0) return buffer;

  const Driver& driver = context_->driver();
  const uint64_t mapping_bytes = RoundUp(bytes, granularity_);
  const std::string doing = fmt::format("allocating {} bytes", mapping_bytes);
  const CUmemAllocationProp properties = SharedMemoryProperties(context_->device());
  CUmemGenericAllocationHandle handle = 0;
  CUDA_TRY(driver.cuMemCreate(&handle, mapping_bytes, &properties, 0), doing);
  int fd = -1;
  if (const CUresult code = driver.cuMemExportToShareableHandle(
          &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
      code != CUDA_SUCCESS) {
    driver.cuMemRelease(handle);
    return tl::unexpected<CudaFailure>({code, doing});
  }
  auto mapping = GuardedMapping::Map(driver, context_->device(), handle, mapping_bytes, true);
  if (!mapping) {
    close(fd);
    return tl::unexpected<CudaFailure>(mapping.error());
  }
  buffer.fd = fd;
  buffer.handle.mapping_bytes = mapping_bytes;
  buffer.handle.offset =
      placement == Placement::kEndsAtGuard ? mapping_bytes - RoundUp(bytes, kEndAlignment) : 0;
  buffer.mapping = reinterpret_cast<void*>(mapping->address());
  buffer.data = reinterpret_cast<void*>(mapping->address() + buffer.handle.offset);
  mappings_.emplace(buffer.id, *mapping);
  return buffer;
}

void CudaOracleDevice::Release(const OracleBuffer& buffer) {
  const auto found = mappings_.find(buffer.id);
  if (found == mappings_.end()) return;
  context_->driver().cuStreamSynchronize(kStream);
  found->second.Unmap(context_->driver());
  mappings_.erase(found);
  close(buffer.fd);
}

CudaStatus CudaOracleDevice::Launch(CUfunction kernel, uint64_t items, void** arguments) {
  constexpr unsigned kThreads = 256;
  const uint64_t wanted = (items + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(
      std::clamp<uint64_t>(wanted, 1, static_cast<uint64_t>(context_->facts().sm_count) * 16));
  CUDA_TRY(context_->driver().cuLaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, kStream,
                                             arguments, nullptr),
           "launching one of the oracle's kernels");
  return {};
}

Status CudaOracleDevice::Fill(const OracleBuffer& buffer, const Content& content) {
  CHECK(static_cast<uint64_t>(content.elements) * SizeOf(content.dtype) <= buffer.handle.size,
        "the content fits its buffer");
  if (content.elements == 0) return {};
  void* data = buffer.data;
  auto count = static_cast<unsigned long long>(content.elements);
  ContentNumbers numbers = NumbersOf(content);
  void* arguments[] = {&data, &count, &numbers};
  return ToStatus(Launch(fill_.at(content.dtype), count, arguments));
}

Status CudaOracleDevice::Poison(const OracleBuffer& buffer, uint32_t pattern) {
  if (buffer.mapping == nullptr) return {};
  const auto poison = [&]() -> CudaStatus {
    CUDA_TRY(context_->driver().cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(buffer.mapping),
                                                 PoisonWord(pattern),
                                                 buffer.handle.mapping_bytes / 4, kStream),
             "poisoning a buffer");
    return {};
  };
  return ToStatus(poison());
}

Status CudaOracleDevice::Zero(const OracleBuffer& buffer) {
  if (buffer.data == nullptr) return {};
  const auto zero = [&]() -> CudaStatus {
    CUDA_TRY(context_->driver().cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(buffer.data), 0,
                                                buffer.handle.size, kStream),
             "zeroing a buffer");
    return {};
  };
  return ToStatus(zero());
}

Result<std::optional<uint64_t>> CudaOracleDevice::FindDamage(const OracleBuffer& buffer,
                                                             uint32_t pattern) {
  if (buffer.mapping == nullptr) return std::nullopt;
  uint64_t first = UINT64_MAX;
  const auto search = [&]() -> CudaStatus {
    const Driver& driver = context_->driver();
    const char* doing = "searching a buffer for damage";
    CUDA_TRY(driver.cuMemcpyHtoD(scratch_, &first, sizeof(first)), doing);
    void* words = buffer.mapping;
    unsigned long long count = buffer.handle.mapping_bytes / 4;
    unsigned long long begin = buffer.handle.offset, end = begin + buffer.handle.size;
    uint32_t word = PoisonWord(pattern);
    void* arguments[] = {&words, &count, &begin, &end, &word, &scratch_};
    CUDA_RETURN_IF_FAILED(Launch(find_damage_, count - buffer.handle.size / 4, arguments));
    CUDA_TRY(driver.cuMemcpyDtoH(&first, scratch_, sizeof(first)), doing);
    return {};
  };
  RETURN_IF_ERROR(ToStatus(search()));
  if (first == UINT64_MAX) return std::nullopt;
  return first;
}

Result<uint64_t> CudaOracleDevice::Digest(const OracleBuffer& buffer) {
  uint64_t digest = 0;
  if (buffer.data == nullptr) return digest;
  const auto sum = [&]() -> CudaStatus {
    const Driver& driver = context_->driver();
    const char* doing = "digesting a buffer";
    CUDA_TRY(driver.cuMemcpyHtoD(scratch_, &digest, sizeof(digest)), doing);
    void* data = buffer.data;
    unsigned long long bytes = buffer.handle.size;
    void* arguments[] = {&data, &bytes, &scratch_};
    CUDA_RETURN_IF_FAILED(Launch(digest_, bytes / 8, arguments));
    CUDA_TRY(driver.cuMemcpyDtoH(&digest, scratch_, sizeof(digest)), doing);
    return {};
  };
  RETURN_IF_ERROR(ToStatus(sum()));
  return digest;
}

Result<ValueSums> CudaOracleDevice::CompareValues(const FloatingView& got,
                                                  const FloatingView& expected,
                                                  const ValueRule& rule) {
  CHECK(got.elements == expected.elements, "one expected value an element");
  ValueSums sums;
  if (got.elements == 0) return sums;
  // A fixed order of adding: the same memory gives the same sums.
  const auto compare = [&]() -> CudaStatus {
    const Driver& driver = context_->driver();
    const char* doing = "comparing an output";
    const void* mine = got.data;
    const void* theirs = expected.data;
    int type = 0;  // text/oracle.cu's CompareWith
    switch (expected.dtype) {
      case Dtype::kFloat64: type = 0; break;
      case Dtype::kFloat32: type = 1; break;
      case Dtype::kFloat16: type = 2; break;
      case Dtype::kBFloat16: type = 3; break;
      default: CHECK(false, "only floating values are compared by value");
    }
    auto count = static_cast<unsigned long long>(got.elements);
    ValueRule own_rule = rule;
    void* arguments[] = {&mine, &theirs, &type, &count, &own_rule, &sums_};
    const auto blocks = static_cast<unsigned>(
        std::clamp<uint64_t>((count + kCompareThreads - 1) / kCompareThreads, 1, compare_blocks_));
    CUDA_TRY(driver.cuLaunchKernel(compare_.at(got.dtype), blocks, 1, 1, kCompareThreads, 1, 1, 0,
                                   kStream, arguments, nullptr),
             doing);
    std::vector<ValueSums> parts(blocks);
    CUDA_TRY(driver.cuMemcpyDtoH(parts.data(), sums_, blocks * sizeof(ValueSums)), doing);
    for (const ValueSums& part : parts) AddSums(sums, part);
    return {};
  };
  RETURN_IF_ERROR(ToStatus(compare()));
  return sums;
}

Status CudaOracleDevice::Synchronize() {
  const auto wait = [&]() -> CudaStatus {
    CUDA_RETURN_IF_FAILED(context_->MakeCurrent());
    CUDA_TRY(context_->driver().cuCtxSynchronize(), "waiting for the oracle's work");
    return {};
  };
  return ToStatus(wait());
}

Result<std::vector<double>> CudaOracleDevice::Time(size_t count,
                                                   const std::function<void(size_t)>& run) {
  for (int attempt = 0; attempt < kTimingAttempts; ++attempt) {
    auto runs = timer_->Time(count, kCommandsOfARun, [&](size_t i) {
      run(i);
      return CudaStatus();
    });
    if (!runs) return tl::unexpected<Error>(ToError(runs.error()));
    if (runs->held) return std::move(runs->run_us);
  }
  return Fail(ErrorCode::kTimeout,
              "the reference cannot be timed: it waits for the device, or takes more than 50 ms to "
              "enqueue");
}

}  // namespace warpsmith
