// A runner's side of its conversation with the oracle: it does what it is told, and knows nothing.
#pragma once

#include "common/net/frame_socket.h"
#include "worker/device/runner_device.h"

namespace warpsmith {

// Says RunnerReady and serves until the oracle hangs up, which is no error, or until a device fault
// is reported: after that the device's context is lost, and the process must end.
Status ServeRunner(FrameSocket& oracle, RunnerDevice& device);

// Where there is no device to serve: says why, in place of RunnerReady.
Status ReportNoDevice(FrameSocket& oracle, const Error& why);

}  // namespace warpsmith
