// warpsmith run: submits a run and follows it. The run is the coordinator's: this command can be
// interrupted, and the coordinator restarted, without harm to it.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "common/runtime/signals.h"
#include "common/suite/run_file.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/progress.h"
#include "tools/warpsmith/waiting.h"

namespace warpsmith {
namespace {

constexpr Duration kSubmitLimit = std::chrono::seconds(60);
constexpr Duration kAnswerLimit = std::chrono::seconds(5);
constexpr Duration kLook = std::chrono::milliseconds(500);
constexpr Duration kQuietLine =
    std::chrono::seconds(10);  // between lines where there is no terminal

// A bar that redraws itself on a terminal, or a line now and then elsewhere.
class Display {
 public:
  Display() : terminal_(::isatty(STDOUT_FILENO) == 1) {}

  void Show(const std::string& line, TimePoint now) {
    if (terminal_) {
      fmt::print("\r\x1b[K{}", line);
      std::fflush(stdout);
    } else if (!shown_ || now - last_ >= kQuietLine) {
      fmt::print("{}\n", line);
      std::fflush(stdout);
      last_ = now;
    }
    shown_ = true;
  }
  void End() {
    if (terminal_ && shown_) fmt::print("\r\x1b[K");
  }
  size_t width() const {
    winsize size{};
    if (terminal_ && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
      return size.ws_col - 1u;
    return 160;
  }

 private:
  const bool terminal_;
  bool shown_ = false;
  TimePoint last_{};
};

Result<int> Follow(Client& client, RunId run) {
  StopSignals signals;
  Display display;
  ProgressLine progress;
  std::optional<TimePoint> away_since;
  bool answered = false;
  while (!signals.requested()) {
    const auto status = client.Ask<RunStatus>(GetRun{run}, kAnswerLimit);
    const TimePoint now = std::chrono::steady_clock::now();
    if (!status && !answered) return tl::unexpected(status.error());
    answered = true;
    if (status && HasEnded(status->state)) {
      display.End();
      fmt::print("{}", Summary(*status));
      if (status->state == RunState::kComplete)
        fmt::print("  kernels: warpsmith best {0}; pictures: warpsmith report {0}\n", run.value());
      return status->state == RunState::kComplete ? 0 : 1;
    }
    if (status) {
      away_since.reset();
      display.Show(progress.Text(*status, now, display.width()), now);
    } else if (status.error().code == ErrorCode::kUnavailable) {
      if (!away_since) away_since = now;
      display.Show(fmt::format("the coordinator at {} is away for {}; waiting for it",
                               client.address(), ForPeople(now - *away_since)),
                   now);
    } else {
      display.End();
      return tl::unexpected(status.error());
    }
    WaitForStop(signals, kLook);
  }
  display.End();
  fmt::print(
      "detached: run {0} goes on. Watch it again with: warpsmith run --follow {0}\n"
      "end it with: warpsmith cancel {0}\n",
      run.value());
  return 0;
}

}  // namespace

Result<int> RunRun(const RunOptions& options) {
  if (options.file.empty() && !options.follow)
    return Fail(ErrorCode::kInvalidInput, "name a run file, or a run with --follow");
  std::optional<RunSpec> spec;
  if (!options.follow) {
    ASSIGN_OR_RETURN(spec, LoadRun(options.file));
  }
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  RunId run(options.follow.value_or(0));
  if (spec) {
    const SubmitRun submission{SubmissionKey("run"), std::move(*spec)};
    ASSIGN_OR_RETURN(const auto accepted, client.Ask<RunAccepted>(submission, kSubmitLimit));
    run = accepted.run;
    fmt::print("run {} submitted to {}\n", run.value(), client.address());
    std::fflush(stdout);
  }
  if (options.detach) return 0;
  return Follow(client, run);
}

Result<int> RunCancel(const CancelOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  ASSIGN_OR_RETURN(const auto status, client.Ask<RunStatus>(CancelRun{RunId(options.run)}));
  fmt::print("{}", Summary(status));
  return 0;
}

}  // namespace warpsmith
