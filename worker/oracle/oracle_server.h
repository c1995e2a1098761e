// The conversation of an oracle with its supervisor (schema: ToOracle, FromOracle).
// Thread-compatible: the oracle's one thread.
#pragma once

#include <deque>
#include <optional>

#include "common/net/frame_socket.h"
#include "schema/child.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/runner_link.h"

namespace warpsmith {

class OracleServer {
 public:
  OracleServer(FrameSocket supervisor, OracleDevice& device, RunnerLinkOptions options = {})
      : supervisor_(std::move(supervisor)), device_(device), options_(options) {}

  // Says OracleReady and serves until the supervisor hangs up, which is no error. A runner that is
  // attached while one is in use replaces it once that is discarded.
  Status Serve();

 private:
  Status Tell(const FromOracle& message);
  // Takes in one message: a request is queued, a runner kept for the next attachment.
  Status TakeIn(Duration timeout);
  Result<AttachedRunner> NextRunner();

  FrameSocket supervisor_;
  OracleDevice& device_;
  RunnerLinkOptions options_;
  std::deque<EvaluateRequest> requests_;
  std::optional<AttachedRunner> spare_;
};

}  // namespace warpsmith
