#include "worker/cuda/nvrtc_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <variant>

#include "common/base/parse.h"
#include "common/suite/plan_file.h"
#include "common/suite/resolve.h"
#include "worker/cuda/candidate_text.h"
#include "worker/cuda/cubin.h"
#include "worker/cuda/nvrtc.h"
#include "worker/device/source_text.h"

namespace warpsmith {

extern const char kNvrtcPrelude[];
extern const char kStandardNames[];
extern const char kCandidatePrelude[];
extern const char kParameterTable[];

namespace {

constexpr size_t kMaxLogBytes = 16 * 1024;
constexpr uint64_t kMaxGlobalBytes = 64 * 1024;
constexpr int kMaxLocalBytes = 16 * 1024;  // a thread; 4 GiB of device memory when an H200 is full
constexpr std::string_view kTablePrefix = "warpsmith_parameters_";

// text/parameter_table.cuh writes these numbers.
static_assert(static_cast<int>(ParameterType::kPointer) == 0 &&
              static_cast<int>(ParameterType::kInt8) == 1 &&
              static_cast<int>(ParameterType::kUint64) == 8 &&
              static_cast<int>(ParameterType::kFloat32) == 9 &&
              static_cast<int>(ParameterType::kBFloat16) == 12 &&
              static_cast<int>(ParameterType::kBool) == 13 &&
              static_cast<int>(ParameterType::kUnsupported) == 14);
static_assert(kMaxArguments == 64, "text/parameter_table.cuh holds as many");

// "sm_90" and "sm_90a" -> "sm_90a": from 9.0 on, an architecture's own features need its variant.
// Nothing when NVRTC does not compile for it.
std::optional<std::string> FeatureVariant(const Nvrtc& nvrtc, std::string_view architecture) {
  const auto number = ComputeCapability(architecture);
  if (!number || std::find(nvrtc.architectures.begin(), nvrtc.architectures.end(), *number) ==
                     nvrtc.architectures.end())
    return std::nullopt;
  return fmt::format("sm_{}{}", *number, *number >= 90 ? "a" : "");
}

NvrtcProgram MakeProgram(const Nvrtc& nvrtc, const std::string& candidate,
                         const std::vector<std::string>& includes, const std::string& architecture,
                         const std::vector<std::string>& kernels) {
  NvrtcProgram program;
  program.name = "candidate.cu";
  program.headers = {{"warpsmith/nvrtc_prelude.cuh", kNvrtcPrelude},
                     {"warpsmith/standard_names.cuh", kStandardNames},
                     {"warpsmith/prelude.cuh", kCandidatePrelude},
                     {"warpsmith/parameter_table.cuh", kParameterTable}};
  for (const std::string& name : StandardHeaders()) program.headers.push_back({name, "\n"});
  program.text =
      "#include \"warpsmith/nvrtc_prelude.cuh\"\n#include \"warpsmith/prelude.cuh\"\n"
      "#include \"warpsmith/parameter_table.cuh\"\n#line 1 \"candidate.cu\"\n" +
      candidate + "\n#line 1 \"launch plan\"\n";
  for (size_t i = 0; i < kernels.size(); ++i)
    program.text += fmt::format(
        "extern \"C\" __device__ ::warpsmith_table::warpsmith_parameters {}{} = "
        "::warpsmith_table::warpsmith_make(decltype(&{})(nullptr));\n",
        kTablePrefix, i, kernels[i]);
  program.name_expressions = kernels;

  const bool uses_cub = std::any_of(includes.begin(), includes.end(), [](const std::string& name) {
    return name.starts_with("cub/");
  });
  program.options = {
      "--gpu-architecture=" + architecture,
      "--std=c++17",
      "--include-path=" + (nvrtc.root / "include").string(),
      "--include-path=" + (nvrtc.root / "include/cccl").string(),
      "--diag-suppress=47",   // a macro of the prelude defined again with the same meaning
      "--ptxas-options=-v"};  // registers, spills and shared memory, in the log
  if (!uses_cub) program.options.push_back("--minimal");  // a quarter quicker; CUB needs the rest
  return program;
}

// The log without our own paths and ptxas's statistics, cut at a cap.
std::string PublicLog(const Nvrtc& nvrtc, std::string_view log) {
  std::string out;
  const std::string root = nvrtc.root.string() + "/include/";
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    std::string line(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    std::erase(line, '\0');  // NVRTC ends ptxas's part with one
    if (line.starts_with("ptxas info") || line.starts_with("ptxas         .") ||
        line.starts_with("Remark: The warnings can be suppressed"))
      continue;
    for (size_t at = line.find(root); at != std::string::npos; at = line.find(root, at))
      line.erase(at, root.size());
    if (out.size() + line.size() + 1 > kMaxLogBytes) return out + "... (cut)\n";
    out += line + '\n';
  }
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

// The first line of the log that holds `text`, or empty.
std::string LineWith(std::string_view log, std::string_view text) {
  const size_t at = log.find(text);
  if (at == std::string_view::npos) return "";
  const size_t before = log.rfind('\n', at);
  const size_t start = before == std::string_view::npos ? 0 : before + 1;
  return std::string(log.substr(start, std::min(log.find('\n', at), log.size()) - start));
}

Outcome FailureOutcome(const Nvrtc& nvrtc, const NvrtcResult& result) {
  const std::string log = PublicLog(nvrtc, result.log);
  if (const std::string line = LineWith(log, "host functions are not allowed in JIT mode");
      !line.empty())
    return Rejected{
        fmt::format("host code is not allowed ({}): a candidate is device code only; mark helper "
                    "functions __device__",
                    line.substr(0, line.find(": error")))};
  if (const std::string line = LineWith(log, "uses too much"); !line.empty())
    return ResourceError{line};
  switch (result.code) {
    case NVRTC_ERROR_OUT_OF_MEMORY: return ResourceError{"the compiler ran out of memory"};
    case NVRTC_ERROR_INVALID_OPTION:
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
    case NVRTC_ERROR_PROGRAM_CREATION_FAILURE:
      return Infrastructure{
          InfrastructureKind::kInternal,
          fmt::format("NVRTC {}: {}: {}", nvrtc.version, nvrtc.GetErrorString(result.code), log)};
    default:
      return CompileError{log.empty() ? std::string(nvrtc.GetErrorString(result.code)) : log};
  }
}

// The parameters' types as the appended table says them.
std::optional<std::vector<ParameterType>> ReadParameters(const Cubin& cubin, size_t kernel) {
  const auto table = cubin.Variable(fmt::format("{}{}", kTablePrefix, kernel));
  if (!table || table->empty()) return std::nullopt;
  const size_t count_plus_one = static_cast<unsigned char>(table->front());
  if (count_plus_one < 1 || count_plus_one > kMaxArguments + 1 || table->size() < count_plus_one)
    return std::nullopt;
  std::vector<ParameterType> types;
  for (size_t i = 1; i < count_plus_one; ++i) {
    const int code = static_cast<unsigned char>((*table)[i]);
    types.push_back(code <= static_cast<int>(ParameterType::kUnsupported)
                        ? static_cast<ParameterType>(code)
                        : ParameterType::kUnsupported);
  }
  return types;
}

CompileResult CompileCandidate(const CompileRequest& request) {
  auto admitted = AdmitWithPlan(request.text);
  if (!admitted) return Outcome(Rejected{admitted.error().message});
  auto& [text, plan] = *admitted;
  auto checked = CheckDeviceText(text);
  if (auto* rejected = std::get_if<Rejected>(&checked)) return Outcome(std::move(*rejected));
  const auto& includes = std::get<std::vector<std::string>>(checked);

  const auto loaded = LoadNvrtc();
  if (!loaded) return Outcome(Infrastructure{InfrastructureKind::kDriver, loaded.error().message});
  const Nvrtc& nvrtc = **loaded;
  const auto architecture = FeatureVariant(nvrtc, request.architecture);
  if (!architecture) {
    std::string supported;
    for (int number : nvrtc.architectures)
      supported += fmt::format("{}sm_{}", supported.empty() ? "" : " ", number);
    return Outcome(
        Infrastructure{InfrastructureKind::kUnsupportedArchitecture,
                       fmt::format("NVRTC {} does not compile for \"{}\"; it supports {}",
                                   nvrtc.version, request.architecture, supported)});
  }

  const std::vector<std::string> names = KernelNames(plan);
  NvrtcResult result = Compile(nvrtc, MakeProgram(nvrtc, text, includes, *architecture, names));
  if (result.code != NVRTC_SUCCESS) return FailureOutcome(nvrtc, result);
  const auto cubin = Cubin::Parse(result.cubin);
  if (!cubin) return Outcome(Infrastructure{InfrastructureKind::kInternal, cubin.error().message});

  CompiledCandidate compiled;
  compiled.device_kind = DeviceKind::kCuda;
  compiled.architecture = *architecture;
  compiled.log = PublicLog(nvrtc, result.log);
  uint64_t table_bytes = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    KernelInfo kernel;
    kernel.name = names[i];
    kernel.symbol = result.symbols[i];
    auto parameters = ReadParameters(*cubin, i);
    if (kernel.symbol.empty() || !parameters)
      return Outcome(
          Rejected{fmt::format("{} is not a kernel that the plan can name", kernel.name)});
    kernel.parameters = std::move(*parameters);
    table_bytes += 1 + kernel.parameters.size() * 2;
    const PtxasReport report = ReadPtxasReport(result.log, kernel.symbol);
    kernel.registers = report.registers;
    kernel.spill_bytes = report.spill_bytes;
    kernel.static_shared_bytes = report.static_shared_bytes;
    kernel.local_bytes = report.local_bytes;
    kernel.max_threads_per_block = MaxThreadsByRegisters(report.registers);
    if (const auto declared = cubin->DeclaredMaxThreads(kernel.symbol))
      kernel.max_threads_per_block = std::min(kernel.max_threads_per_block, *declared);
    if (kernel.local_bytes > kMaxLocalBytes)
      return Outcome(ResourceError{
          fmt::format("{} takes {} bytes of local memory a thread; at most {} are allowed",
                      kernel.name, kernel.local_bytes, kMaxLocalBytes)});
    compiled.kernels.push_back(std::move(kernel));
  }
  // Our tables are in there too, and are small.
  if (cubin->global_bytes() >
      kMaxGlobalBytes + names.size() * (kMaxArguments + 2) + table_bytes + 64)
    return Outcome(
        Rejected{fmt::format("{} bytes of __device__ variables; at most {} are allowed: use temps",
                             cubin->global_bytes(), kMaxGlobalBytes)});
  compiled.plan = std::move(plan);
  compiled.binary = std::move(result.cubin);
  return compiled;
}

// The number that stands before `unit` on a line of ptxas's report.
int NumberBefore(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return -1;
  size_t start = at;
  while (start > 0 && line[start - 1] >= '0' && line[start - 1] <= '9') --start;
  return ParseWhole<int>(line.substr(start, at - start)).value_or(-1);
}

}  // namespace

PtxasReport ReadPtxasReport(std::string_view log, std::string_view symbol) {
  PtxasReport report;
  // Its lines come last; whatever the candidate made the front end print stands before them.
  const size_t start = log.rfind(fmt::format("Compiling entry function '{}'", symbol));
  if (start == std::string_view::npos) return report;
  log.remove_prefix(start);
  bool own_properties = false;  // not those of a function that it calls
  int line_number = 0;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line_number++ > 0 && line.find("Compiling entry function") != std::string_view::npos) break;
    if (line.find("Function properties for") != std::string_view::npos)
      own_properties = line.ends_with(symbol);
    if (own_properties && line.find("bytes stack frame") != std::string_view::npos) {
      report.local_bytes = NumberBefore(line, " bytes stack frame");
      report.spill_bytes = NumberBefore(line, " bytes spill stores");
    }
    if (line.find("Used ") != std::string_view::npos &&
        line.find(" registers") != std::string_view::npos) {
      report.registers = NumberBefore(line, " registers");
      report.static_shared_bytes = std::max(0, NumberBefore(line, " bytes smem"));
      report.local_bytes =
          std::max(report.local_bytes, NumberBefore(line, " bytes cumulative stack size"));
    }
  }
  return report;
}

int MaxThreadsByRegisters(int registers) {
  constexpr int kRegisterFile = 65536, kWarp = 32, kUnit = 256, kWarpGroup = 4, kMaxThreads = 1024;
  if (registers <= 0) return kMaxThreads;
  const int warp_registers = (registers * kWarp + kUnit - 1) / kUnit * kUnit;
  const int warps = kRegisterFile / warp_registers / kWarpGroup * kWarpGroup;
  return std::min(kMaxThreads, warps * kWarp);
}

NvrtcCompiler::NvrtcCompiler() { (void)NvrtcRoot(); }

CompileReply NvrtcCompiler::Compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  CompileReply reply{.id = request.id, .result = CompileCandidate(request)};
  reply.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return reply;
}

}  // namespace warpsmith
