// warpsmith run: submits a run and follows it. The run is the coordinator's: this command can be
// interrupted, and the coordinator restarted, without harm to it.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/runtime/files.h"
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

// Something on the way, which must not end the command: main says at the end that it was lost.
void Say(const std::string& text) { (void)WriteStdout(text); }

// A bar that redraws itself on a terminal, or a line now and then elsewhere.
class Display {
 public:
  Display() : terminal_(::isatty(STDOUT_FILENO) == 1) {}

  void Show(const std::string& line, TimePoint now) {
    if (terminal_) {
      Say("\r\x1b[K" + line);
    } else if (!shown_ || now - last_ >= kQuietLine) {
      Say(line + "\n");
      last_ = now;
    }
    shown_ = true;
  }
  void End() {
    if (terminal_ && shown_) Say("\r\x1b[K");
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
      std::string summary = Summary(*status);
      if (status->state == RunState::kComplete)
        summary += fmt::format("  kernels: warpsmith best {0}; pictures: warpsmith report {0}\n",
                               run.value());
      RETURN_IF_ERROR(WriteStdout(summary));
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
  RETURN_IF_ERROR(WriteStdout(
      fmt::format("detached: run {0} goes on. Watch it again with: warpsmith run --follow {0}\n"
                  "end it with: warpsmith cancel {0}\n",
                  run.value())));
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
    Say(fmt::format("run {} submitted to {}\n", run.value(), client.address()));
  }
  if (options.detach) return 0;
  return Follow(client, run);
}

Result<int> RunCancel(const CancelOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  ASSIGN_OR_RETURN(const auto status, client.Ask<RunStatus>(CancelRun{RunId(options.run)}));
  RETURN_IF_ERROR(WriteStdout(Summary(status)));
  return 0;
}

}  // namespace warpsmith
