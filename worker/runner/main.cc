// warpsmith-runner --device host|cuda --index N --fd F: runs candidates for the oracle at the other
// end of descriptor F. Started by the worker, two a device.
#include <memory>
#include <utility>

#include "common/runtime/child_flags.h"
#include "common/runtime/log.h"
#include "worker/cuda/cuda_runner_device.h"
#include "worker/host/host_runner_device.h"
#include "worker/runner/serve.h"

namespace warpsmith {
namespace {

Result<std::unique_ptr<RunnerDevice>> Open(DeviceKind kind, int index) {
  if (kind == DeviceKind::kHost) return std::make_unique<HostRunnerDevice>();
  if (kind == DeviceKind::kCuda) return CudaRunnerDevice::Create(index);
  return Fail(ErrorCode::kInvalidInput, "the simulated device needs no runner");
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
