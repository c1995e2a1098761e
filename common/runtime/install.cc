#include "common/runtime/install.h"

#include <cstdlib>
#include <system_error>

namespace warpsmith {
namespace {

const char* Set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

}  // namespace

std::filesystem::path ProgramDirectory() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::current_path(error) : program.parent_path();
}

std::filesystem::path ShareDirectory() {
  if (const char* share = Set("WARPSMITH_SHARE")) return share;
  return ProgramDirectory().parent_path() / "share" / "warpsmith";
}

std::filesystem::path CudaRoot() {
  if (const char* root = Set("WARPSMITH_CUDA_ROOT")) return root;
  std::error_code error;
  const auto bundled = ShareDirectory() / "cuda";
  if (std::filesystem::is_directory(bundled / "include", error)) return bundled;
  return WARPSMITH_BUILD_CUDA_ROOT;
}

}  // namespace warpsmith
