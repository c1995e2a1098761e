// One device's primary context, retained and made current in the thread that makes it, and the
// device's facts. libtorch in the same process uses the same context.
#pragma once

#include <memory>

#include "schema/device.h"
#include "worker/cuda/driver.h"

namespace warpsmith {

class CudaContext {
 public:
  // kMissing: no driver or no such device.
  static Result<std::unique_ptr<CudaContext>> Create(int index);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const Driver& driver() const { return driver_; }
  const DeviceFacts& facts() const { return facts_; }
  CUdevice device() const { return device_; }
  // Makes it current again, after a library may have changed that.
  CudaStatus MakeCurrent() const;

 private:
  CudaContext(const Driver& driver, DeviceFacts facts)
      : driver_(driver), facts_(std::move(facts)) {}

  const Driver& driver_;
  DeviceFacts facts_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

// Memory that is mapped with unmapped address space on both sides, so that what runs over its end
// faults. The guards are wide: a stray index lands in them, not in a neighbour.
class GuardedMapping {
 public:
  static constexpr uint64_t kGuardBytes = 32ull << 30;

  GuardedMapping() = default;
  // Maps `handle` (`bytes` long, a multiple of the allocation granularity); takes the handle over.
  static CudaResult<GuardedMapping> Map(const Driver& driver, CUdevice device,
                                        CUmemGenericAllocationHandle handle, uint64_t bytes,
                                        bool writable);
  // Unmaps. The caller has waited for all work that uses it.
  void Unmap(const Driver& driver);

  CUdeviceptr address() const { return address_; }
  uint64_t bytes() const { return bytes_; }

 private:
  CUdeviceptr reserved_ = 0;
  CUdeviceptr address_ = 0;
  uint64_t bytes_ = 0;
};

// The properties of memory that is shared by file descriptor, and its granularity.
CUmemAllocationProp SharedMemoryProperties(CUdevice device);
CudaResult<uint64_t> SharedMemoryGranularity(const Driver& driver, CUdevice device);

}  // namespace warpsmith
