// warpsmith-runner --device host|cuda --index N --fd F: runs candidates for the oracle at the other
// end of descriptor F. Started by the worker, two a device.
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "common/runtime/child_flags.h"
#include "common/runtime/log.h"
#include "worker/cuda/cuda_runner_device.h"
#include "worker/host/host_runner_device.h"
#include "worker/runner/serve.h"

namespace warpsmith {
namespace {

Result<std::unique_ptr<RunnerDevice>> OpenCuda(int index) {
  return CudaRunnerDevice::Create(index);
}

Result<std::unique_ptr<RunnerDevice>> OpenHost(int) { return std::make_unique<HostRunnerDevice>(); }

using OpenDevice = Result<std::unique_ptr<RunnerDevice>> (*)(int index);
const std::map<DeviceKind, OpenDevice> kOpen = {{DeviceKind::kCuda, OpenCuda},
                                                {DeviceKind::kHost, OpenHost}};

Result<std::unique_ptr<RunnerDevice>> Open(DeviceKind kind, int index) {
  const auto found = kOpen.find(kind);
  if (found == kOpen.end())
    return Fail(ErrorCode::kInvalidInput,
                std::string("no runner launches on a device of kind ") + ToString(kind));
  return found->second(index);
}

// The exit status; kInvalidInput: the command line.
Result<int> Run(int argc, char** argv) {
  ASSIGN_OR_RETURN(const ChildFlags flags,
                   ChildFlags::Read(argc, argv, {"--device", "--index", "--fd"}));
  ASSIGN_OR_RETURN(const DeviceKind kind, flags.Device("--device"));
  ASSIGN_OR_RETURN(const int index, flags.Whole("--index"));
  ASSIGN_OR_RETURN(UniqueFd fd, flags.Descriptor("--fd"));
  FrameSocket oracle(std::move(fd));
  auto device = Open(kind, index);
  if (!device) LogError("no_device", {{"why", device.error().message}});
  const Status served =
      device ? ServeRunner(oracle, **device) : ReportNoDevice(oracle, device.error());
  if (!served) LogError("stopped", {{"why", served.error().message}});
  if (!device) return ExitStatus(device.error().code);
  return served ? 0 : ExitStatus(served.error().code);
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::InitLog("runner");
  const auto status = warpsmith::Run(argc, argv);
  if (status) return *status;
  warpsmith::LogError("usage", {{"is", "warpsmith-runner --device host|cuda --index N --fd F"},
                                {"why", status.error().message}});
  return warpsmith::ExitStatus(status.error().code);
}
