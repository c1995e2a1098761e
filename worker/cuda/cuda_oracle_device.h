// OracleDevice on a CUDA device, in its primary context and on the legacy default stream, where
// libtorch in the same process works too. Buffers are virtual-memory allocations exported as POSIX
// file descriptors (2 MiB granularity), with 32 GiB of unmapped addresses on either side.
#pragma once

#include <map>
#include <memory>

#include "worker/cuda/cuda_context.h"
#include "worker/cuda/device_timer.h"
#include "worker/device/oracle_device.h"

namespace warpsmith {

// Belongs to the thread that makes it. Every buffer must be released before it is destroyed.
class CudaOracleDevice : public OracleDevice {
 public:
  // kMissing: no driver, no such device, no NVRTC.
  static Result<std::unique_ptr<CudaOracleDevice>> Create(int index);
  ~CudaOracleDevice() override;

  const DeviceFacts& facts() const override { return context_->facts(); }
  Result<OracleBuffer> Allocate(uint64_t bytes, Access access, Placement placement) override;
  void Release(const OracleBuffer& buffer) override;
  Status Fill(const OracleBuffer& buffer, const Content& content) override;
  Status Poison(const OracleBuffer& buffer, uint32_t pattern) override;
  Status Zero(const OracleBuffer& buffer) override;
  Result<std::optional<uint64_t>> FindDamage(const OracleBuffer& buffer, uint32_t pattern) override;
  Result<uint64_t> Digest(const OracleBuffer& buffer) override;
  Result<ValueSums> CompareValues(const FloatingView& got, const FloatingView& expected,
                                  const ValueRule& rule) override;
  Status Synchronize() override;
  // May call run(i) again when the first pass loaded or allocated something and was too slow for
  // the hold. kTimeout when it stays so: `run` waits for the device.
  Result<std::vector<double>> Time(size_t count, const std::function<void(size_t)>& run) override;

 private:
  CudaOracleDevice(std::unique_ptr<CudaContext> context) : context_(std::move(context)) {}

  CudaStatus Prepare(const std::string& cubin);
  CudaResult<OracleBuffer> AllocateBuffer(uint64_t bytes, Access access, Placement placement);
  // Launches one of our kernels over `items` items, in grid-stride form.
  CudaStatus Launch(CUfunction kernel, uint64_t items, void** arguments);

  std::unique_ptr<CudaContext> context_;
  std::unique_ptr<DeviceTimer> timer_;
  uint64_t granularity_ = 0;
  CUmodule module_ = nullptr;
  std::map<Dtype, CUfunction> fill_;
  std::map<Dtype, CUfunction> compare_;
  CUfunction find_damage_ = nullptr, digest_ = nullptr;
  CUdeviceptr scratch_ = 0;  // one 64-bit word
  unsigned compare_blocks_ = 0;
  CUdeviceptr sums_ = 0;  // ValueSums, one a block of a comparison
  int next_id_ = 0;
  std::map<int, GuardedMapping> mappings_;
};

}  // namespace warpsmith
