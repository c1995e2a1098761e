// Where the parts of an installation lie, relative to the running program, so that a build folder,
// a bundle and an image work alike:
//   <root>/bin/warpsmith*            programs
//   <root>/share/warpsmith/host      shim headers and runtime of the host device
//   <root>/share/warpsmith/cuda      CUDA headers and libraries (bundle), or the build's wheels
#pragma once

#include <filesystem>

namespace warpsmith {

std::filesystem::path ProgramDirectory();
// WARPSMITH_SHARE overrides.
std::filesystem::path ShareDirectory();
// WARPSMITH_CUDA_ROOT overrides; then share/warpsmith/cuda; then the place known when built. Holds
// include/ and lib/; may not exist.
std::filesystem::path CudaRoot();

}  // namespace warpsmith
