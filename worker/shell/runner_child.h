// One runner child: the process, and the oracle's end of its socket until it is handed over.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/net/frame_socket.h"
#include "common/runtime/subprocess.h"
#include "schema/device.h"
#include "worker/shell/process_evaluator.h"

namespace warpsmith {

struct LaneOptions {
  DeviceKind kind = DeviceKind::kHost;
  int index = 0;  // ordinal of the device on this host
  ChildPrograms programs;
  EvaluationLimits limits;
  std::filesystem::path log_directory;
  std::vector<int> cores;  // of oracle and runners; empty: inherited
};

// The command line and files of a lane's child: `program --device K --index N --fd 3`.
SubprocessOptions LaneChild(const LaneOptions& options, const std::filesystem::path& program,
                            const std::string& log, int fd);

class RunnerChild {
 public:
  // Starts one and waits until its context is up, which it tells by its first frame; the frame
  // stays unread, for the oracle. kUnavailable: it died or `stop` became true; kTimeout.
  static Result<RunnerChild> Start(const LaneOptions& options, uint64_t number,
                                   const std::atomic<bool>& stop);

  uint64_t number() const { return number_; }
  int pid() const { return process_.pid(); }
  // The oracle's end; given away once.
  int oracle_end() const { return oracle_end_.get(); }
  void HandedOver() { oracle_end_.Reset(); }

  // Nothing: it is dead. Else it would not die within `limit`, and may hold its device.
  std::optional<Subprocess> Kill(Duration limit);

 private:
  uint64_t number_ = 0;
  Subprocess process_;
  UniqueFd oracle_end_;
};

}  // namespace warpsmith
