#include "worker/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <filesystem>

#include "common/runtime/install.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> used = false;  // since the first load

// The first of the folder's libraries whose name starts so ("libnvrtc.so.13"), or empty.
fs::path FindLibrary(const fs::path& folder, const std::string& prefix) {
  fs::path best;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && (best.empty() || name > best.filename().string()))
      best = entry.path();
  }
  return best;
}

template <typename F>
bool Bind(void* library, const char* symbol, F& function) {
  function = reinterpret_cast<F>(dlsym(library, symbol));
  return function != nullptr;
}

Result<Nvrtc> Open() {
  Nvrtc nvrtc;
  nvrtc.root = NvrtcRoot();
  std::error_code ignored;  // a folder that cannot be looked into is as good as none
  if (!fs::exists(nvrtc.root / "include/cuda_fp16.h", ignored))
    return Fail(ErrorCode::kMissing,
                fmt::format("no CUDA headers in {}: run tools/setup, or set WARPSMITH_CUDA_ROOT to "
                            "a CUDA folder with include/ and lib/",
                            (nvrtc.root / "include").string()));
  void* library = nullptr;
  for (const char* folder : {"lib", "lib64"}) {
    // NVRTC looks for its builtins on the loader's path only, so they are opened before it.
    const fs::path builtins = FindLibrary(nvrtc.root / folder, "libnvrtc-builtins.so.");
    const fs::path nvrtc_library = FindLibrary(nvrtc.root / folder, "libnvrtc.so.");
    if (nvrtc_library.empty()) continue;
    if (!builtins.empty()) dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
    library = dlopen(nvrtc_library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Fail(ErrorCode::kMissing,
                fmt::format("no NVRTC in {}: run tools/setup, or set WARPSMITH_CUDA_ROOT to a CUDA "
                            "folder with include/ and lib/",
                            (nvrtc.root / "lib").string()));

  const bool all = Bind(library, "nvrtcVersion", nvrtc.Version) &&
                   Bind(library, "nvrtcGetNumSupportedArchs", nvrtc.GetNumSupportedArchs) &&
                   Bind(library, "nvrtcGetSupportedArchs", nvrtc.GetSupportedArchs) &&
                   Bind(library, "nvrtcCreateProgram", nvrtc.CreateProgram) &&
                   Bind(library, "nvrtcDestroyProgram", nvrtc.DestroyProgram) &&
                   Bind(library, "nvrtcCompileProgram", nvrtc.CompileProgram) &&
                   Bind(library, "nvrtcGetProgramLogSize", nvrtc.GetProgramLogSize) &&
                   Bind(library, "nvrtcGetProgramLog", nvrtc.GetProgramLog) &&
                   Bind(library, "nvrtcGetCUBINSize", nvrtc.GetCubinSize) &&
                   Bind(library, "nvrtcGetCUBIN", nvrtc.GetCubin) &&
                   Bind(library, "nvrtcAddNameExpression", nvrtc.AddNameExpression) &&
                   Bind(library, "nvrtcGetLoweredName", nvrtc.GetLoweredName) &&
                   Bind(library, "nvrtcGetErrorString", nvrtc.GetErrorString);
  if (!all) return Fail(ErrorCode::kMissing, "this NVRTC is too old: CUDA 12.0 or newer is needed");

  int major = 0, minor = 0, count = 0;
  nvrtc.Version(&major, &minor);
  nvrtc.version = fmt::format("{}.{}", major, minor);
  nvrtc.GetNumSupportedArchs(&count);
  nvrtc.architectures.resize(static_cast<size_t>(count));
  if (count > 0) nvrtc.GetSupportedArchs(nvrtc.architectures.data());
  return nvrtc;
}

std::vector<const char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& string : strings) pointers.push_back(string.c_str());
  return pointers;
}

}  // namespace

const std::filesystem::path& NvrtcRoot() {
  static const fs::path root = CudaRoot();
  return root;
}

Result<const Nvrtc*> LoadNvrtc() {
  static const Result<Nvrtc> nvrtc = Open();
  if (!nvrtc) return tl::unexpected<Error>(nvrtc.error());
  used = true;
  return &*nvrtc;
}

NvrtcResult Compile(const Nvrtc& nvrtc, const NvrtcProgram& program) {
  NvrtcResult result;
  std::vector<const char*> names, texts;
  for (const NvrtcHeader& header : program.headers) {
    names.push_back(header.name.c_str());
    texts.push_back(header.text.c_str());
  }
  nvrtcProgram handle = nullptr;
  result.code = nvrtc.CreateProgram(&handle, program.text.c_str(), program.name.c_str(),
                                    static_cast<int>(names.size()), texts.data(), names.data());
  if (result.code != NVRTC_SUCCESS) return result;
  for (const std::string& expression : program.name_expressions) {
    result.code = nvrtc.AddNameExpression(handle, expression.c_str());
    if (result.code != NVRTC_SUCCESS) break;
  }
  const std::vector<const char*> options = Pointers(program.options);
  if (result.code == NVRTC_SUCCESS)
    result.code = nvrtc.CompileProgram(handle, static_cast<int>(options.size()), options.data());

  size_t size = 0;
  if (nvrtc.GetProgramLogSize(handle, &size) == NVRTC_SUCCESS && size > 1) {
    result.log.resize(size);
    nvrtc.GetProgramLog(handle, result.log.data());
    result.log.resize(size - 1);  // it counts the closing NUL
  }
  if (result.code == NVRTC_SUCCESS) {
    result.code = nvrtc.GetCubinSize(handle, &size);
    if (result.code == NVRTC_SUCCESS) {
      result.cubin.resize(size);
      result.code = nvrtc.GetCubin(handle, result.cubin.data());
    }
  }
  if (result.code == NVRTC_SUCCESS) {
    for (const std::string& expression : program.name_expressions) {
      const char* lowered = nullptr;
      if (nvrtc.GetLoweredName(handle, expression.c_str(), &lowered) != NVRTC_SUCCESS)
        lowered = nullptr;
      result.symbols.push_back(lowered == nullptr ? "" : lowered);
    }
  }
  nvrtc.DestroyProgram(&handle);
  return result;
}

Result<std::string> CompileOwnKernels(const std::string& architecture, const std::string& name,
                                      const std::string& text,
                                      const std::vector<NvrtcHeader>& headers) {
  ASSIGN_OR_RETURN(const Nvrtc* nvrtc, LoadNvrtc());
  NvrtcProgram program;
  program.name = name;
  program.text = text;
  program.headers = headers;
  program.options = {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false",
                     "--include-path=" + (nvrtc->root / "include").string(),
                     "--include-path=" + (nvrtc->root / "include/cccl").string()};
  NvrtcResult result = Compile(*nvrtc, program);
  if (result.code == NVRTC_ERROR_INVALID_OPTION)
    return Fail(ErrorCode::kMissing, fmt::format("NVRTC {} does not know the architecture {}",
                                                 nvrtc->version, architecture));
  if (result.code != NVRTC_SUCCESS)
    return Fail(ErrorCode::kInternal,
                fmt::format("{} does not compile for {}: {}\n{}", name, architecture,
                            nvrtc->GetErrorString(result.code), result.log));
  return std::move(result.cubin);
}

}  // namespace warpsmith

#if defined(__SANITIZE_ADDRESS__)
// NVRTC compiles on threads of its own, which may be ending while the process does; the tracer of
// the leak sanitizer reads such a thread's descriptor and crashes. A process that used NVRTC goes
// without its check. (Hook of <sanitizer/lsan_interface.h>.)
extern "C" int __lsan_is_turned_off() { return warpsmith::used ? 1 : 0; }
#endif
