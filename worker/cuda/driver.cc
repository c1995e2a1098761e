#include "worker/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace warpsmith {
namespace {

Result<Driver> Open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return Fail(ErrorCode::kMissing,
                fmt::format("no NVIDIA driver ({}): install it, or use --device host",
                            why == nullptr ? "libcuda.so.1 does not open" : why));
  }
  Driver driver;
#define WARPSMITH_TEXT_INNER(name) #name
#define WARPSMITH_TEXT(name) WARPSMITH_TEXT_INNER(name)
#define WARPSMITH_BIND(function)                                                             \
  driver.function =                                                                          \
      reinterpret_cast<decltype(driver.function)>(dlsym(library, WARPSMITH_TEXT(function))); \
  if (driver.function == nullptr)                                                            \
    return Fail(ErrorCode::kMissing, "the NVIDIA driver lacks " WARPSMITH_TEXT(              \
                                         function) ": version 580 or newer is needed");
  WARPSMITH_DRIVER_FUNCTIONS(WARPSMITH_BIND)
#undef WARPSMITH_BIND
#undef WARPSMITH_TEXT
#undef WARPSMITH_TEXT_INNER
  if (const CUresult code = driver.cuInit(0); code != CUDA_SUCCESS) {
    const char* name = nullptr;
    driver.cuGetErrorName(code, &name);
    return Fail(ErrorCode::kMissing, fmt::format("the NVIDIA driver does not start: {}",
                                                 name == nullptr ? "unknown error" : name));
  }
  return driver;
}

}  // namespace

Result<const Driver*> LoadDriver() {
  static const Result<Driver> driver = Open();
  if (!driver) return tl::unexpected<Error>(driver.error());
  return &*driver;
}

std::string CudaErrorName(CUresult code) {
  const auto driver = LoadDriver();
  const char* name = nullptr;
  if (driver && (*driver)->cuGetErrorName(code, &name) == CUDA_SUCCESS && name != nullptr)
    return name;
  return fmt::format("CUDA error {}", static_cast<int>(code));
}

Error ToError(const CudaFailure& failure) {
  ErrorCode code = ErrorCode::kInternal;
  if (failure.code == CUDA_ERROR_OUT_OF_MEMORY) code = ErrorCode::kExhausted;
  if (failure.code == CUDA_ERROR_NO_DEVICE || failure.code == CUDA_ERROR_INVALID_DEVICE)
    code = ErrorCode::kMissing;
  return Error{code, fmt::format("{}: {}", failure.doing, CudaErrorName(failure.code))};
}

}  // namespace warpsmith
