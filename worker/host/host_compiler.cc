#include "worker/host/host_compiler.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"
#include "common/suite/plan_file.h"
#include "worker/host/host_text.h"
#include "worker/host/object_file.h"
#include "worker/host/runtime/protocol.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxLogBytes = 16 * 1024;
constexpr uint64_t kMaxGlobalBytes = 64 * 1024;
constexpr uint64_t kMaxExecutableBytes = 64ull << 20;
constexpr std::string_view kUnit = "unit.cc";
constexpr std::string_view kAuthorsFile = "candidate.cu";
constexpr std::string_view kPlanFile = "launch plan";

// shim/entry.h writes these numbers.
static_assert(static_cast<int>(ParameterType::kPointer) == 0 &&
              static_cast<int>(ParameterType::kInt8) == 1 &&
              static_cast<int>(ParameterType::kUint64) == 8 &&
              static_cast<int>(ParameterType::kFloat32) == 9 &&
              static_cast<int>(ParameterType::kBFloat16) == 12 &&
              static_cast<int>(ParameterType::kBool) == 13 &&
              static_cast<int>(ParameterType::kUnsupported) == 14);
static_assert(kMaxArguments == host::kMaxHostArguments && kMaxLaunches == host::kMaxHostLaunches);

// No errno and no strict aliasing, as on a GPU; whole numbers wrap; an index past a known bound
// traps instead of writing over the runtime; no contraction, so that results do not hang on the
// host's CPU.
constexpr std::array kCompilerFlags = {"-std=c++17",
                                       "-O2",
                                       "-fvect-cost-model=dynamic",
                                       "-pipe",
                                       "-fno-pie",
                                       "-fno-strict-aliasing",
                                       "-fwrapv",
                                       "-fno-exceptions",
                                       "-fno-rtti",
                                       "-fsanitize=bounds",
                                       "-fsanitize-undefined-trap-on-error",
                                       "-fno-extern-tls-init",
                                       "-fno-stack-protector",
                                       "-fno-threadsafe-statics",
                                       "-fno-asynchronous-unwind-tables",
                                       "-fcf-protection=none",
                                       "-ffp-contract=off",
                                       "-fno-math-errno",
                                       "-fno-trapping-math",
                                       "-nostdinc",
                                       "-nostdinc++",
                                       "-ftemplate-depth=256",
                                       "-fmax-errors=20",
                                       "-fmessage-length=0",
                                       "-fdiagnostics-color=never",
                                       "-Wall",
                                       "-Wno-unknown-pragmas",
                                       "-Wno-unused-function",
                                       "-Wno-unused-but-set-variable",
                                       "-Wno-unused-local-typedefs",
                                       "-Wno-attributes",
                                       "-Wno-sign-compare",
                                       "-Wno-ignored-attributes"};

// What an object may refer to beside the runtime: libm, and what g++ calls of its own accord. The
// prelinked runtime defines exactly these (runtime/CMakeLists.txt reads the list).
const std::set<std::string_view>& AllowedSymbols() {
  static const std::set<std::string_view> symbols = {
#define WARPSMITH_SYMBOL(name) #name,
#include "worker/host/runtime/symbols.inc"
#undef WARPSMITH_SYMBOL
  };
  return symbols;
}

struct ToolResult {
  bool ok = false;
  std::string log;
  std::optional<Outcome> failure;  // not the text's fault, or a limit
};

std::string FindProgram(std::initializer_list<const char*> names) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  for (const char* name : names)
    for (size_t at = 0; at <= folders.size();) {
      const size_t end = std::min(folders.find(':', at), folders.size());
      const std::string candidate = folders.substr(at, end - at) + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      at = end + 1;
    }
  return "";
}

Outcome Internal(std::string detail) {
  return Infrastructure{InfrastructureKind::kInternal, std::move(detail)};
}

// This machine lacks something, which is nobody's fault who wrote a candidate.
Outcome Missing(std::string detail) {
  return Infrastructure{InfrastructureKind::kDriver, std::move(detail)};
}

struct Toolchain {
  std::string gxx;
  std::string linker;
  std::filesystem::path share;
  Duration limit;
  bool own_group;
};

ToolResult RunTool(std::vector<std::string> argv, const std::filesystem::path& folder,
                   const Toolchain& tools) {
  SubprocessOptions options;
  options.own_group = tools.own_group;
  options.argv = std::move(argv);
  options.directory = folder;
  options.env = {{"LC_ALL", "C"}, {"TMPDIR", folder.string()}};
  options.stdout_path = "/dev/null";
  options.stderr_path = folder / "log";
  auto started = Subprocess::Start(options);
  if (!started) return {false, "", Internal(started.error().message)};
  const auto exit = started->Wait(tools.limit);
  if (!exit) {
    started->Stop(Duration::zero());
    return {false, "", Timeout{Stage::kCompile}};
  }
  ToolResult result;
  result.log = ReadFile(folder / "log", 8 << 20).value_or("");
  result.ok = exit->signal == 0 && exit->status == 0;
  const bool memory = result.log.find("out of memory") != std::string::npos ||
                      result.log.find("virtual memory exhausted") != std::string::npos;
  if (!result.ok && memory)
    result.failure = ResourceError{"the compiler ran out of memory"};
  else if (exit->signal != 0 ||
           result.log.find("signal terminated program") != std::string::npos)  // one of g++'s own
    result.failure =
        ResourceError{"the compiler was stopped: it needed too much time, memory or disk"};
  return result;
}

// A candidate runs where it is compiled, so it may use what this CPU has; without contraction the
// results are the same.
const char* MachineFlag() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  return v3 ? "-march=x86-64-v3" : nullptr;
}

// The author's text is a file of its own, so that messages and quoted lines are the author's. It
// stands in an unnamed namespace, where its names hide the shim's and reach no linker.
std::string MakeUnit(const std::vector<std::string>& kernels) {
  std::string unit = fmt::format(
      "#include \"candidate.h\"\nnamespace {{\n#include \"{}\"\n}}\n"
      "#include \"entry.h\"\n",
      kAuthorsFile);
  std::string entries, signatures;
  for (const std::string& name : kernels) {
    entries += fmt::format("\n#line 1 \"{0}\"\nWARPSMITH_KERNEL({1}),", kPlanFile, name);
    signatures += fmt::format("\n#line 1 \"{0}\"\nWARPSMITH_SIGNATURE({1}),", kPlanFile, name);
  }
  unit += fmt::format(
      "extern \"C\" {{\nextern const warpsmith_kernel warpsmith_kernels[];\n"
      "const warpsmith_kernel warpsmith_kernels[] = {{{}}};\n"
      "extern const unsigned int warpsmith_kernel_count;\n"
      "const unsigned int warpsmith_kernel_count = {};\n"
      "extern const warpsmith_parameters warpsmith_signatures[];\n"
      "const warpsmith_parameters warpsmith_signatures[] = {{{}}};\n}}\n",
      entries, kernels.size(), signatures);
  return unit;
}

bool IsOurThreadLocal(std::string_view name) {
  return name == "_ZL9threadIdx" || name == "_ZL8blockIdx" || name == "_ZL8blockDim" ||
         name == "_ZL7gridDim";
}

// A name that an object refers to, as its author would say it.
std::string AuthorsName(const std::string& symbol) {
  if (symbol.starts_with("_Zn")) return "new";
  if (symbol.starts_with("_Zd")) return "delete";
  return symbol;
}

// The object as evidence of what the text is. An outcome: refused.
std::optional<Outcome> CheckObject(const ObjectFile& object) {
  constexpr std::array<std::string_view, 14> kSections = {
      ".text",   ".rodata", ".data",     ".bss",     ".tbss",           ".tdata", ".rela",
      ".symtab", ".strtab", ".shstrtab", ".comment", ".note.GNU-stack", ".group", ".eh_frame"};
  uint64_t globals = 0;
  for (const ObjectSection& section : object.sections) {
    if (section.type == SHT_NULL || section.size == 0) continue;
    const bool known = std::any_of(kSections.begin(), kSections.end(), [&](std::string_view name) {
      return section.name == name ||
             (section.name.starts_with(name) && section.name[name.size()] == '.');
    });
    if (!known)
      return Rejected{
          section.name.starts_with(".init_array") || section.name.starts_with(".ctors")
              ? "host code is not allowed: a variable needs code that runs before the kernels"
              : fmt::format("section {} is not allowed", section.name)};
    if ((section.flags & SHF_WRITE) != 0 && (section.flags & SHF_TLS) == 0) globals += section.size;
  }
  if (globals > kMaxGlobalBytes)
    return Rejected{fmt::format("writable __device__ data of {} bytes; the limit is {}: use temps",
                                globals, kMaxGlobalBytes)};
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.type == STT_GNU_IFUNC)
      return Rejected{"host code is not allowed: an indirect function"};
    if (symbol.defined() || symbol.name.empty() || symbol.type == STT_TLS) continue;
    if (!AllowedSymbols().contains(symbol.name))
      return Rejected{fmt::format("unsupported on the host device: {}", AuthorsName(symbol.name))};
  }
  return std::nullopt;
}

uint64_t StaticSharedBytes(const ObjectFile& object) {
  uint64_t bytes = 0;
  for (const ObjectSymbol& symbol : object.symbols)
    if (symbol.type == STT_TLS && symbol.defined() && !IsOurThreadLocal(symbol.name))
      bytes += symbol.size;
  return bytes;
}

Result<std::vector<KernelInfo>> ReadKernels(const ObjectFile& object,
                                            const std::vector<std::string>& names) {
  constexpr size_t kRecord = 1 + kMaxArguments;
  ASSIGN_OR_RETURN(const std::string_view table, SymbolData(object, "warpsmith_signatures"));
  if (table.size() != kRecord * names.size())
    return Fail(ErrorCode::kCorrupt, "object file: the table of parameters has another size");
  std::vector<KernelInfo> kernels;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view record = table.substr(i * kRecord, kRecord);
    KernelInfo kernel;
    kernel.name = names[i];
    kernel.symbol = fmt::format("warpsmith_kernels[{}]", i);
    const auto count = static_cast<uint8_t>(record[0]);
    for (size_t p = 0; p < count && p < kMaxArguments; ++p) {
      const auto code = static_cast<uint8_t>(record[1 + p]);
      if (code > static_cast<uint8_t>(ParameterType::kUnsupported))
        return Fail(ErrorCode::kCorrupt, "object file: an unknown type of parameter");
      kernel.parameters.push_back(static_cast<ParameterType>(code));
    }
    // Of the whole candidate: an object does not tell which kernel uses what.
    kernel.static_shared_bytes = static_cast<int>(StaticSharedBytes(object));
    kernel.max_threads_per_block = host::kMaxHostThreads;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

Status WriteText(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out)
    return Fail(ErrorCode::kExhausted,
                fmt::format("cannot write {}: is the disk full?", path.string()));
  return {};
}

// Fiber variables decide which runtime is linked: without them a block is a plain loop.
bool UsesFibers(const ObjectFile& object) {
  return std::any_of(object.symbols.begin(), object.symbols.end(), [](const ObjectSymbol& s) {
    return s.name == "warpsmith_barrier" || s.name == "warpsmith_warp";
  });
}

CompileResult CompileUnit(const Toolchain& tools, const std::filesystem::path& folder,
                          const std::string& text, Plan plan) {
  const std::vector<std::string> names = KernelNames(plan);
  for (const auto& [name, content] :
       {std::pair{std::string(kAuthorsFile), text}, {std::string(kUnit), MakeUnit(names)}})
    if (auto status = WriteText(folder / name, content); !status)
      return Infrastructure{InfrastructureKind::kDisk, status.error().message};

  std::vector<std::string> compile = {tools.gxx};
  compile.insert(compile.end(), kCompilerFlags.begin(), kCompilerFlags.end());
  if (const char* march = MachineFlag()) {
    compile.push_back(march);
    // Copies as wide as the vectors: two halves stored and read back as one vector stall the CPU.
    compile.push_back("-mmove-max=256");
  }
  for (const char* include : {"shim", "include"})
    compile.push_back("-I" + (tools.share / include).string());
  compile.insert(compile.end(), {"-c", std::string(kUnit), "-o", "unit.o"});
  const ToolResult compiled = RunTool(std::move(compile), folder, tools);
  if (compiled.failure) return *compiled.failure;
  const std::string log = PublicCompilerLog(compiled.log, tools.share);
  if (!compiled.ok) return CompileError{log};

  const auto bytes = ReadFile(folder / "unit.o", kMaxExecutableBytes);
  if (!bytes) return ResourceError{"the compiled candidate is too large"};
  const auto object = ReadObject(*bytes);
  if (!object) return Internal(object.error().message);
  if (auto refused = CheckObject(*object)) return *refused;
  const uint64_t shared = StaticSharedBytes(*object);
  if (shared > host::kMaxHostShared)
    return ResourceError{fmt::format("static shared memory of {} bytes; the limit is {}", shared,
                                     host::kMaxHostShared)};
  auto kernels = ReadKernels(*object, names);
  if (!kernels) return Internal(kernels.error().message);

  std::vector<std::string> dynamic;
  for (const ObjectSymbol& symbol : object->symbols)
    if (symbol.type == STT_TLS && !symbol.defined()) dynamic.push_back(symbol.name);
  const auto runtime = tools.share / "runtime";
  std::vector<std::string> link = {
      tools.linker, "-static",    "-z",
      "norelro",    "-z",         "noexecstack",
      "-o",         "executable", (runtime / "shared_begin.o").string(),
      "unit.o"};
  if (!dynamic.empty()) {
    if (auto status =
            WriteText(folder / "shared.o", MakeSharedMemoryObject(dynamic, host::kMaxHostShared));
        !status)
      return Infrastructure{InfrastructureKind::kDisk, status.error().message};
    link.push_back("shared.o");
  }
  link.push_back((runtime / "shared_end.o").string());
  link.push_back((runtime / (UsesFibers(*object) ? "fibers.o" : "plain.o")).string());
  const ToolResult linked = RunTool(std::move(link), folder, tools);
  if (linked.failure) return *linked.failure;
  if (!linked.ok) return CompileError{PublicCompilerLog(linked.log, tools.share)};
  auto executable = ReadFile(folder / "executable", kMaxExecutableBytes);
  if (!executable) return ResourceError{"the compiled candidate is too large"};

  CompiledCandidate candidate;
  candidate.device_kind = DeviceKind::kHost;
  candidate.architecture = "x86_64";
  candidate.plan = std::move(plan);
  candidate.kernels = std::move(*kernels);
  candidate.binary = std::move(*executable);
  candidate.log = log;
  return candidate;
}

}  // namespace

std::string PublicCompilerLog(std::string_view log, const std::filesystem::path& share) {
  const std::string root = share.string() + "/";
  std::string out;
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    std::string line(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.starts_with("In file included from") || line.starts_with("                 from ") ||
        line.starts_with("compilation terminated") || line.starts_with("cc1plus:"))
      continue;
    for (size_t at = line.find(root); at != std::string::npos; at = line.find(root, at))
      line.erase(at, root.size());
    for (size_t at = line.find("{anonymous}::"); at != std::string::npos;
         at = line.find("{anonymous}::", at))
      line.erase(at, 13);
    if (out.size() + line.size() + 1 > kMaxLogBytes) return out + "... (cut)";
    out += line + '\n';
  }
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

HostCompiler::HostCompiler(HostCompilerOptions options)
    : options_(std::move(options)),
      linker_(FindProgram({"mold", "ld.gold", "ld"})),
      gxx_(FindProgram({"g++", "c++"})) {
  if (options_.share.empty()) options_.share = ShareDirectory() / "host";
}

CompileReply HostCompiler::Compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const auto compile = [&]() -> CompileResult {
    if (request.device_kind != DeviceKind::kHost)
      return Infrastructure{InfrastructureKind::kUnsupportedArchitecture,
                            fmt::format("this compiler is the host device's, not that of {}",
                                        ToString(request.device_kind))};
    auto admitted = AdmitWithPlan(request.text);
    if (!admitted) return Rejected{admitted.error().message};
    auto& [text, plan] = *admitted;
    for (const LaunchSpec& launch : plan.launches)
      if (std::any_of(launch.cluster.begin(), launch.cluster.end(),
                      [](const auto& c) { return c != "1"; }))
        return Rejected{"unsupported on the host device: clusters"};
    if (auto rejected = CheckHostText(text)) return *rejected;
    if (gxx_.empty() || linker_.empty())
      return Missing("the host device needs g++ and mold (or ld) on the PATH: run tools/setup");
    if (access((options_.share / "shim/candidate.h").c_str(), R_OK) != 0)
      return Missing(fmt::format("no shim in {}: build or install it, or set WARPSMITH_SHARE",
                                 options_.share.string()));
    auto folder = TempDirectory::Make("warpsmith-host-");
    if (!folder) return Infrastructure{InfrastructureKind::kDisk, folder.error().message};
    return CompileUnit({gxx_, linker_, options_.share, options_.limit, options_.own_group},
                       folder->path(), text, std::move(plan));
  };
  CompileReply reply;
  reply.id = request.id;
  reply.result = compile();
  reply.ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return reply;
}

}  // namespace warpsmith
