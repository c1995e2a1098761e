// warpsmith-oracle --device host|cuda --index N --fd F: judges candidates for the worker at the
// other end of descriptor F, which started it. One a device.
// warpsmith-oracle --lint SUITE...: looks for tasks that can be cheated, on the host device.
#include <malloc.h>
#include <sys/resource.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/device_kind.h"
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

Result<std::unique_ptr<OracleDevice>> OpenCuda(int index) {
  ASSIGN_OR_RETURN(auto device, CudaOracleDevice::Create(index));
  RETURN_IF_ERROR(LoadTorchCuda());
  return device;
}

Result<std::unique_ptr<OracleDevice>> OpenHost(int index) {
  return std::make_unique<HostOracleDevice>(index);
}

using OpenDevice = Result<std::unique_ptr<OracleDevice>> (*)(int index);
const std::map<DeviceKind, OpenDevice> kOpen = {{DeviceKind::kCuda, OpenCuda},
                                                {DeviceKind::kHost, OpenHost}};

Result<std::unique_ptr<OracleDevice>> Open(DeviceKind kind, int index) {
  const auto found = kOpen.find(kind);
  if (found == kOpen.end())
    return Fail(ErrorCode::kInvalidInput,
                std::string("no oracle judges on a device of kind ") + ToString(kind));
  return found->second(index);
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
  // A baseline that runs on the lane's cores has all of them, as a candidate has; one on a device
  // of its own needs a core to launch from.
  ConfigureTorch(TraitsOf(kind).shares_host_cores ? LaneCores() : 1);
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
