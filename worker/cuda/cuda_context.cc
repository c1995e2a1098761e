#include "worker/cuda/cuda_context.h"

#include "worker/cuda/device_facts.h"

namespace warpsmith {

Result<std::unique_ptr<CudaContext>> CudaContext::Create(int index) {
  ASSIGN_OR_RETURN(const Driver* driver, LoadDriver());
  ASSIGN_OR_RETURN(DeviceFacts facts, ReadCudaDeviceFacts(index));
  std::unique_ptr<CudaContext> context(new CudaContext(*driver, std::move(facts)));
  const auto made = [&]() -> CudaStatus {
    CUDA_TRY(driver->cuDeviceGet(&context->device_, index), "finding the device");
    CUDA_TRY(driver->cuDevicePrimaryCtxRetain(&context->context_, context->device_),
             "making the device's context");
    return context->MakeCurrent();
  }();
  if (!made) return tl::unexpected<Error>(ToError(made.error()));
  return context;
}

CudaContext::~CudaContext() {
  if (context_ != nullptr) driver_.cuDevicePrimaryCtxRelease(device_);
}

CudaStatus CudaContext::MakeCurrent() const {
  CUDA_TRY(driver_.cuCtxSetCurrent(context_), "using the device's context");
  return {};
}

CudaResult<GuardedMapping> GuardedMapping::Map(const Driver& driver, CUdevice device,
                                               CUmemGenericAllocationHandle handle, uint64_t bytes,
                                               bool writable) {
  GuardedMapping mapping;
  const auto map = [&]() -> CudaStatus {
    const char* doing = "mapping a buffer";
    CUDA_TRY(driver.cuMemAddressReserve(&mapping.reserved_, bytes + 2 * kGuardBytes, 0, 0, 0),
             doing);
    mapping.bytes_ = bytes;
    CUDA_TRY(driver.cuMemMap(mapping.reserved_ + kGuardBytes, bytes, 0, handle, 0), doing);
    mapping.address_ = mapping.reserved_ + kGuardBytes;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    CUDA_TRY(driver.cuMemSetAccess(mapping.address_, bytes, &access, 1), doing);
    return {};
  }();
  driver.cuMemRelease(handle);  // the mapping keeps the memory
  if (!map) {
    mapping.Unmap(driver);
    return tl::unexpected<CudaFailure>(map.error());
  }
  return mapping;
}

void GuardedMapping::Unmap(const Driver& driver) {
  if (address_ != 0) driver.cuMemUnmap(address_, bytes_);
  if (reserved_ != 0) driver.cuMemAddressFree(reserved_, bytes_ + 2 * kGuardBytes);
  *this = GuardedMapping();
}

CUmemAllocationProp SharedMemoryProperties(CUdevice device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

CudaResult<uint64_t> SharedMemoryGranularity(const Driver& driver, CUdevice device) {
  const CUmemAllocationProp properties = SharedMemoryProperties(device);
  size_t granularity = 0;
  CUDA_TRY(driver.cuMemGetAllocationGranularity(&granularity, &properties,
                                                CU_MEM_ALLOC_GRANULARITY_MINIMUM),
           "asking for the allocation granularity");
  return granularity;
}

}  // namespace warpsmith
