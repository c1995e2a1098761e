// warpsmith-runner --device host|cuda --index N --fd F: runs candidates for the oracle at the other
// end of descriptor F. Started by the worker, two a device.
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

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

int Run(DeviceKind kind, int index, int fd) {
  FrameSocket oracle((UniqueFd(fd)));
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
  std::optional<warpsmith::DeviceKind> kind;
  int index = 0, fd = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--device") kind = warpsmith::ParseDeviceKind(argv[i + 1]);
    if (flag == "--index") index = std::atoi(argv[i + 1]);
    if (flag == "--fd") fd = std::atoi(argv[i + 1]);
  }
  if (!kind || fd < 0) {
    warpsmith::LogError("usage", {{"is", "warpsmith-runner --device host|cuda --index N --fd F"}});
    return 2;
  }
  return warpsmith::Run(*kind, index, fd);
}
