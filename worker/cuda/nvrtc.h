// NVRTC, opened at run time from CudaRoot()/lib (or the loader's path), so that no program links
// it.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

// One entry point each, under its own name.
struct Nvrtc {
  decltype(&::nvrtcVersion) Version = nullptr;
  decltype(&::nvrtcGetNumSupportedArchs) GetNumSupportedArchs = nullptr;
  decltype(&::nvrtcGetSupportedArchs) GetSupportedArchs = nullptr;
  decltype(&::nvrtcCreateProgram) CreateProgram = nullptr;
  decltype(&::nvrtcDestroyProgram) DestroyProgram = nullptr;
  decltype(&::nvrtcCompileProgram) CompileProgram = nullptr;
  decltype(&::nvrtcGetProgramLogSize) GetProgramLogSize = nullptr;
  decltype(&::nvrtcGetProgramLog) GetProgramLog = nullptr;
  decltype(&::nvrtcGetCUBINSize) GetCubinSize = nullptr;
  decltype(&::nvrtcGetCUBIN) GetCubin = nullptr;
  decltype(&::nvrtcAddNameExpression) AddNameExpression = nullptr;
  decltype(&::nvrtcGetLoweredName) GetLoweredName = nullptr;
  decltype(&::nvrtcGetErrorString) GetErrorString = nullptr;

  std::filesystem::path root;      // CUDA's folder: include/ and lib/
  std::string version;             // "13.0"
  std::vector<int> architectures;  // 75, 80, ... that it compiles for
};

// Where the toolkit is, asked once a process: a process that erases its environment later calls it
// before. Any thread.
const std::filesystem::path& NvrtcRoot();

// Loaded once a process; kMissing where there is no NVRTC. Any thread.
Result<const Nvrtc*> LoadNvrtc();

// A text by the name that an #include gives it.
struct NvrtcHeader {
  std::string name;
  std::string text;
};

struct NvrtcProgram {
  std::string name;  // as messages show it: "candidate.cu"
  std::string text;
  std::vector<NvrtcHeader> headers;
  std::vector<std::string> options;
  std::vector<std::string> name_expressions;
};

struct NvrtcResult {
  nvrtcResult code = NVRTC_SUCCESS;
  std::string log;
  std::string cubin;                 // on success
  std::vector<std::string> symbols;  // lowered names, one a name expression, on success
};

// Compiles for one real architecture (an option says which). Any thread; blocks.
NvrtcResult Compile(const Nvrtc& nvrtc, const NvrtcProgram& program);

// Our own device code for a device of this architecture ("sm_90a"): the cubin. Multiply-adds are
// not contracted, so that it rounds as the host does. kInternal on an error, with the log.
Result<std::string> CompileOwnKernels(const std::string& architecture, const std::string& name,
                                      const std::string& text,
                                      const std::vector<NvrtcHeader>& headers = {});

}  // namespace warpsmith
