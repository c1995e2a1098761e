// warpsmith doctor: what this machine has, and what to do about what it lacks.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "common/model/device_kind.h"
#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/programs.h"
#include "tools/warpsmith/show.h"
#include "tools/warpsmith/table.h"
#include "worker/sandbox/sandbox.h"
#include "worker/shell/process_evaluator.h"

namespace warpsmith {
namespace {

// `needed`: without it nothing works here; the rest costs a feature.
class Findings {
 public:
  void Good(const std::string& what, const std::string& detail) {
    table_.Add({"ok", what, detail});
  }
  void Lacks(const std::string& what, const std::string& advice, bool needed) {
    table_.Add({needed ? "LACKS" : "note", what, advice});
    broken_ = broken_ || needed;
  }
  bool broken() const { return broken_; }
  std::string ToString() const { return table_.ToString(); }

 private:
  Table table_{{"", "part", "what was found"}};
  bool broken_ = false;
};

// The first line that a program prints about itself.
std::string FirstLineOf(const std::string& program, const std::string& argument) {
  auto scratch = TempDirectory::Make("warpsmith-doctor");
  if (!scratch) return "";
  SubprocessOptions options;
  options.argv = {program, argument};
  options.stdout_path = (scratch->path() / "out").string();
  options.stderr_path = "/dev/null";
  auto child = Subprocess::Start(options);
  if (!child || !child->Wait(std::chrono::seconds(20))) return "";
  const auto text = ReadFile(options.stdout_path);
  return text ? text->substr(0, text->find('\n')) : "";
}

void Machine(Findings* findings) {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const double gib =
      static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 30);
  findings->Good("machine",
                 fmt::format("{} cores, {:.0f} GiB", ::sysconf(_SC_NPROCESSORS_ONLN), gib));
  std::error_code error;
  const auto space = std::filesystem::space(".", error);
  const double free_gib = error ? 0 : static_cast<double>(space.available) / (1 << 30);
  if (free_gib < 1)
    findings->Lacks(
        "disk", fmt::format("{:.2f} GiB free here: make room, or work elsewhere", free_gib), true);
  else
    findings->Good("disk", fmt::format("{:.0f} GiB free here", free_gib));
}

void Programs(Findings* findings) {
  for (const char* name :
       {"warpsmith-coordinator", "warpsmith-worker", "warpsmith-compiler", "warpsmith-runner",
        "warpsmith-oracle", "warpsmith-policy", "warpsmith-learner"}) {
    const auto program = OwnProgram(name);
    const bool needs_torch =
        std::string(name) != "warpsmith-coordinator" && std::string(name) != "warpsmith-worker" &&
        std::string(name) != "warpsmith-compiler" && std::string(name) != "warpsmith-runner";
    if (program)
      findings->Good(name, *program);
    else
      findings->Lacks(name, program.error().message + (needs_torch ? " (it needs libtorch)" : ""),
                      true);
  }
  for (const char* name : {"redis-server", "g++"}) {
    const auto program = SystemProgram(name);
    if (program)
      findings->Good(name, FirstLineOf(*program, "--version"));
    else
      findings->Lacks(name, program.error().message, true);
  }
  const auto mold = SystemProgram("mold");
  if (mold)
    findings->Good("linker", FirstLineOf(*mold, "--version"));
  else
    findings->Lacks("linker", "no mold: candidates of the host device link more slowly", false);
  const auto python = PythonWithPictures();
  if (python)
    findings->Good("report", *python + " with matplotlib");
  else
    findings->Lacks("report", python.error().message, false);
}

void Toolkit(Findings* findings) {
  std::error_code error;
  const auto host = ShareDirectory() / "host";
  if (std::filesystem::is_directory(host, error))
    findings->Good("host headers", host.string());
  else
    findings->Lacks("host headers",
                    host.string() +
                        " is not there: build everything, or set "
                        "WARPSMITH_SHARE",
                    true);
  const auto cuda = CudaRoot();
  if (std::filesystem::exists(cuda / "include" / "cuda_fp16.h", error))
    findings->Good("CUDA headers", cuda.string());
  else
    findings->Lacks("CUDA headers",
                    fmt::format("none in {}: run tools/setup, or set "
                                "WARPSMITH_CUDA_ROOT; needed for device cuda",
                                cuda.string()),
                    false);
  const auto sandbox = ProbeSandbox();
  if (!sandbox) {
    findings->Lacks("sandbox", sandbox.error().message, true);
    return;
  }
  findings->Good("sandbox", sandbox->Describe());
  for (const auto& missing : sandbox->missing) findings->Lacks("sandbox", missing, false);
}

// Starts what judges candidates on this kind of device, which proves it from end to end.
void Device(const DeviceTraits& traits, Findings* findings) {
  const std::string kind = ToString(traits.kind);
  // A machine without nodes of a kind's may do without it; what needs none is everywhere.
  const bool needed = *traits.nodes.prefix == '\0';
  ProcessEvaluatorOptions options;
  options.device = kind;
  options.compilers = 1;
  const auto evaluator = ProcessEvaluator::Start(std::move(options));
  if (!evaluator) {
    findings->Lacks("device " + kind, evaluator.error().message, needed);
    return;
  }
  for (const auto& device : (*evaluator)->Devices())
    findings->Good("device " + kind,
                   fmt::format("{}, {}, {} {}, clocks {}", device.name, device.architecture,
                               device.sm_count, traits.cores_noun, ToString(device.clock_mode)));
}

void Coordinator(const std::string& flag, Findings* findings) {
  auto client = Client::Connect(flag);
  if (!client) {
    findings->Lacks("coordinator",
                    client.error().code == ErrorCode::kNotFound
                        ? "none is known here: `warpsmith up` starts one"
                        : client.error().message,
                    false);
    return;
  }
  const auto cluster = client->Ask<ClusterStatus>(GetCluster{}, std::chrono::seconds(3));
  if (cluster)
    findings->Good("coordinator", fmt::format("{}: {} workers, {} runs", client->address(),
                                              cluster->workers.size(), cluster->runs.size()));
  else
    findings->Lacks("coordinator", cluster.error().message, false);
}

}  // namespace

Result<int> RunDoctor(const DoctorOptions& options) {
  Findings findings;
  Machine(&findings);
  Programs(&findings);
  Toolkit(&findings);
  for (const DeviceTraits& traits : AllDeviceTraits())
    if (!traits.modelled) Device(traits, &findings);
  Coordinator(options.coordinator, &findings);
  RETURN_IF_ERROR(WriteStdout(
      fmt::format("{}\n{}\n", findings.ToString(),
                  findings.broken() ? "This machine lacks something: see the lines with LACKS."
                                    : "This machine is ready.")));
  return findings.broken() ? ExitStatus(ErrorCode::kMissing) : 0;
}

}  // namespace warpsmith
