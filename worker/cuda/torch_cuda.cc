#include "worker/cuda/torch_cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

// The folder of the libtorch_cpu that this process has loaded, or empty.
fs::path LoadedTorchFolder() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (name.find("libtorch_cpu.so") == std::string::npos) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &path);
  return path.empty() ? fs::path() : fs::path(path).parent_path();
}

Status Open() {
  const char* named = getenv("WARPSMITH_TORCH_LIB");
  const fs::path folder = named != nullptr ? fs::path(named) : LoadedTorchFolder();
  if (folder.empty())
    return Fail(ErrorCode::kMissing,
                "libtorch is not loaded here: set WARPSMITH_TORCH_LIB to its lib/");
  for (const char* library : {"libc10_cuda.so", "libtorch_cuda.so"}) {
    if (dlopen((folder / library).c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    const char* why = dlerror();
    return Fail(
        ErrorCode::kMissing,
        fmt::format("libtorch's CUDA half does not open ({}): install the nvidia packages that "
                    "torch wants, or set WARPSMITH_TORCH_LIB to a whole torch's lib/",
                    why == nullptr ? library : why));
  }
  return {};
}

}  // namespace

Status LoadTorchCuda() {
  static const Status loaded = Open();
  return loaded;
}

}  // namespace warpsmith
