// warpsmith-oracle --device host|cuda --index N --fd F: judges candidates for the worker at the
// other end of descriptor F, which started it. One a device.
// warpsmith-oracle --lint SUITE...: looks for tasks that can be cheated, on the host device.
#include <malloc.h>
#include <sys/resource.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/runtime/child_flags.h"
#include "common/runtime/log.h"
#include "common/wire/codec.h"
#include "worker/cuda/cuda_oracle_device.h"
#include "worker/cuda/torch_cuda.h"
#include "worker/host/cpu_facts.h"
#include "worker/host/host_oracle_device.h"
#include "worker/oracle/lint_suites.h"
#include "worker/oracle/oracle_server.h"
#include "worker/oracle/reference.h"

namespace warpsmith {
namespace {

Result<std::unique_ptr<OracleDevice>> Open(DeviceKind kind, int index) {
  if (kind == DeviceKind::kHost) return std::make_unique<HostOracleDevice>(index);
  if (kind != DeviceKind::kCuda)
    return Fail(ErrorCode::kInvalidInput, "the simulated device needs no oracle");
  ASSIGN_OR_RETURN(auto device, CudaOracleDevice::Create(index));
  RETURN_IF_ERROR(LoadTorchCuda());
  return device;
}

// Sets of buffers are descriptors, and the baseline must not pay for fresh pages that a candidate,
// whose outputs lie ready, does not pay for.
void RaiseLimits() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// The exit status; kInvalidInput: the command line.
Result<int> Run(int argc, char** argv) {
  ASSIGN_OR_RETURN(const ChildFlags flags,
                   ChildFlags::Read(argc, argv, {"--device", "--index", "--fd"}));
  ASSIGN_OR_RETURN(const DeviceKind kind, flags.Device("--device"));
  ASSIGN_OR_RETURN(const int index, flags.Whole("--index"));
  ASSIGN_OR_RETURN(UniqueFd fd, flags.Descriptor("--fd"));
  RaiseLimits();
  FrameSocket supervisor(std::move(fd));
  auto device = Open(kind, index);
  if (!device) {
    const OracleFailed failed{InfrastructureKind::kDriver, device.error().message};
    (void)supervisor.Send(Encode(FromOracle(failed)), {}, std::chrono::seconds(10));
    LogError("no_device", {{"why", device.error().message}});
    return ExitStatus(device.error().code);
  }
  // The host's baseline has the lane's cores, as a candidate has; a GPU's needs one to launch from.
  ConfigureTorch(kind == DeviceKind::kHost ? LaneCores() : 1);
  OracleServer server(std::move(supervisor), **device);
  const Status served = server.Serve();
  if (!served) LogError("stopped", {{"why", served.error().message}});
  return served ? 0 : ExitStatus(served.error().code);
}

int Lint(const std::vector<std::string>& suites) {
  ConfigureTorch(1);
  HostOracleDevice device(0);
  return LintSuites(suites, device);
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::InitLog("oracle");
  if (argc > 1 && std::string_view(argv[1]) == "--lint") {
    if (argc > 2) return warpsmith::Lint({argv + 2, argv + argc});
    warpsmith::LogError("usage", {{"is", "warpsmith-oracle --lint SUITE..."}});
    return warpsmith::ExitStatus(warpsmith::ErrorCode::kInvalidInput);
  }
  const auto status = warpsmith::Run(argc, argv);
  if (status) return *status;
  warpsmith::LogError("usage", {{"is", "warpsmith-oracle --device host|cuda --index N --fd F"},
                                {"why", status.error().message}});
  return warpsmith::ExitStatus(status.error().code);
}
