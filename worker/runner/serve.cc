#include "worker/runner/serve.h"

#include <utility>
#include <vector>

#include "common/wire/known.h"

namespace warpsmith {
namespace {

constexpr Duration kForever = std::chrono::hours(24 * 365);
constexpr Duration kSendTimeout = std::chrono::seconds(60);

Status Say(FrameSocket& oracle, const FromRunner& message) {
  return oracle.Send(Encode(message), {}, kSendTimeout);
}

RunnerDevice::Reply Do(RunnerDevice& device, const ToRunner& message, Frame& frame) {
  if (const auto* load = std::get_if<LoadModule>(&message)) return device.Load(*load);
  if (const auto* run = std::get_if<RunPlan>(&message)) return device.Run(*run);
  std::vector<int> fds;
  for (UniqueFd& fd : frame.fds) fds.push_back(fd.Release());  // the device closes them
  return device.Bind(std::get<BindBuffers>(message), fds);
}

}  // namespace

Status ServeRunner(FrameSocket& oracle, RunnerDevice& device) {
  RETURN_IF_ERROR(Say(oracle, RunnerReady{}));
  for (;;) {
    auto frame = oracle.Receive(kForever);
    if (!frame && frame.error().code == ErrorCode::kUnavailable) return {};
    if (!frame) return tl::unexpected<Error>(frame.error());
    ASSIGN_OR_RETURN(const ToRunner message, DecodeKnown<ToRunner>(frame->bytes));
    const RunnerDevice::Reply reply = Do(device, message, *frame);
    const auto* failed = std::get_if<Failed>(&reply);
    RETURN_IF_ERROR(Say(oracle, failed ? FromRunner(*failed) : FromRunner(std::get<Done>(reply))));
    if (failed != nullptr && std::holds_alternative<DeviceFault>(failed->outcome)) return {};
  }
}

Status ReportNoDevice(FrameSocket& oracle, const Error& why) {
  return Say(oracle, Failed{Infrastructure{InfrastructureKind::kDriver, why.message}, ""});
}

}  // namespace warpsmith
