// warpsmith-compiler --fd F --temp DIR [--announce]: compiles hostile text in a sandbox for the
// supervisor that started it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "common/runtime/child_flags.h"
#include "common/runtime/install.h"
#include "common/runtime/log.h"
#include "worker/compiler/group_guard.h"
#include "worker/compiler/serve.h"
#include "worker/cuda/nvrtc_compiler.h"
#include "worker/host/host_compiler.h"
#include "worker/sandbox/sandbox.h"

namespace warpsmith {
namespace {

// What is in the environment is none of a candidate's business: it is erased in place.
void EraseEnvironment(const std::string& temp) {
  for (char** entry = environ; *entry; ++entry) {
    std::string_view text = *entry;
    bool kept = text.starts_with("PATH=") || text.starts_with("WARPSMITH_LOG=") ||
                text.starts_with("LD_LIBRARY_PATH=");
    if (!kept) explicit_bzero(*entry, text.size());
  }
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/local/bin:/usr/bin:/bin";
  clearenv();
  setenv("PATH", path.c_str(), 1);
  setenv("TMPDIR", temp.c_str(), 1);
  setenv("LC_ALL", "C.UTF-8", 1);
}

// The exit status; kInvalidInput: the command line.
Result<int> Run(int argc, char** argv) {
  ASSIGN_OR_RETURN(const ChildFlags flags,
                   ChildFlags::Read(argc, argv, {"--fd", "--temp"}, {"--announce"}));
  ASSIGN_OR_RETURN(const std::string temp, flags.Text("--temp"));
  ASSIGN_OR_RETURN(UniqueFd fd, flags.Descriptor("--fd"));
  SandboxOptions options{.readable = SystemFolders(), .writable = {temp}};
  options.readable.insert(options.readable.end(),
                          {ProgramDirectory(), ShareDirectory(), CudaRoot()});
  // Made before the environment goes: they ask it where the toolkit is.
  KernelCompilers compilers;
  compilers[DeviceKind::kHost] =
      std::make_unique<HostCompiler>(HostCompilerOptions{.own_group = false});
  compilers[DeviceKind::kCuda] = std::make_unique<NvrtcCompiler>();
  EraseEnvironment(temp);
  if (chdir(temp.c_str()) != 0) {
    LogError("no_folder", {{"path", temp}, {"why", std::strerror(errno)}});
    return 2;
  }
  if (Status guarded = GuardGroup(); !guarded) {
    LogError("no_guard", {{"why", guarded.error().message}});
    return ExitStatus(guarded.error().code);
  }
  Result<SandboxReport> sandbox = EnterSandbox(options);
  if (!sandbox) {
    LogError("no_sandbox", {{"why", sandbox.error().message}});
    return 70;
  }
  if (flags.Has("--announce")) {
    Log(sandbox->missing.empty() ? LogLevel::kInfo : LogLevel::kWarn, "sandbox",
        {{"is", sandbox->Describe()}});
  }
  FrameSocket parent(std::move(fd));
  Status served = ServeCompiles(parent, compilers, temp);
  if (!served) LogError("stopped", {{"why", served.error().message}});
  return served ? 0 : ExitStatus(served.error().code);
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::InitLog("compiler");
  const auto status = warpsmith::Run(argc, argv);
  if (status) return *status;
  warpsmith::LogError("usage", {{"is", "warpsmith-compiler --fd F --temp DIR [--announce]"},
                                {"why", status.error().message}});
  return warpsmith::ExitStatus(status.error().code);
}
