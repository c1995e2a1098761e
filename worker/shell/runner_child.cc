#include "worker/shell/runner_child.h"

#include <poll.h>
#include <signal.h>

namespace warpsmith {
namespace {

constexpr int kChildFd = 3;
constexpr int kStopLookMs = 100;  // how often a wait looks at `stop`

}  // namespace

SubprocessOptions LaneChild(const LaneOptions& options, const std::filesystem::path& program,
                            const std::string& log, int fd) {
  SubprocessOptions start{.argv = {program.string(), "--device", ToString(options.kind), "--index",
                                   std::to_string(options.index), "--fd", std::to_string(kChildFd)},
                          .fds = {{kChildFd, fd}},
                          .stdout_path = "/dev/null",
                          .cores = options.cores};
  if (!options.log_directory.empty()) {
    start.stderr_path =
        options.log_directory / (log + "-" + std::to_string(options.index) + ".log");
  }
  return start;
}

Result<RunnerChild> RunnerChild::Start(const LaneOptions& options, uint64_t number,
                                       const std::atomic<bool>& stop) {
  ASSIGN_OR_RETURN(auto ends, FrameSocket::MakePair());
  RunnerChild runner;
  runner.number_ = number;
  ASSIGN_OR_RETURN(runner.process_, Subprocess::Start(LaneChild(options, options.programs.runner,
                                                                "runner", ends.second.fd())));
  runner.oracle_end_ = ends.first.Release();
  ends.second.Release().Reset();
  const TimePoint deadline = SystemClock().Now() + options.limits.runner_start;
  while (SystemClock().Now() < deadline) {
    if (stop) return Fail(ErrorCode::kUnavailable, "the evaluator stops");
    pollfd ready{.fd = runner.oracle_end_.get(), .events = POLLIN};
    if (poll(&ready, 1, kStopLookMs) <= 0) continue;
    // The end of a socket is readable too, and comes before the end of its process.
    if (ready.revents == POLLIN) return runner;
    return Fail(ErrorCode::kUnavailable, "the runner died while it started; see its log");
  }
  return Fail(ErrorCode::kTimeout, "the runner did not come up");
}

std::optional<Subprocess> RunnerChild::Kill(Duration limit) {
  oracle_end_.Reset();
  process_.Signal(SIGKILL);
  if (process_.Wait(limit)) return std::nullopt;
  return std::move(process_);
}

}  // namespace warpsmith
