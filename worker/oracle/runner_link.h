// The oracle's side of its runner: one question, one answer, under a limit. Whatever comes back is
// hostile until checked here: kind of answer, kind of outcome, sizes. After an anomaly the runner
// is given up and the next question waits for another. Thread-compatible: the oracle's one thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "common/net/frame_socket.h"
#include "schema/child.h"

namespace warpsmith {

struct AttachedRunner {
  uint64_t id = 0;
  FrameSocket socket;
};

struct RunnerLinkOptions {
  Duration ready = std::chrono::seconds(60);  // a runner's context may take long to come up
  Duration grace = std::chrono::seconds(2);   // after a limit, for the supervisor to kill it
  size_t output_cap = 64 << 10;               // of what a candidate may print
};

class RunnerLink {
 public:
  // `notify` tells the supervisor; `next` waits for a runner that it attaches.
  using Notify = std::function<Status(const FromOracle&)>;
  using Next = std::function<Result<AttachedRunner>()>;
  RunnerLink(Notify notify, Next next, RunnerLinkOptions options = {});

  // Names the evaluation in what follows, and forgets what the last one printed.
  void Begin(uint64_t evaluation);

  // Sends one message and waits for its answer at most `limit`. Done, or how the evaluation ends:
  // what the runner said (LaunchError, DeviceFault, ResourceError, Rejected, Timeout,
  // Infrastructure), Timeout(stage), or DeviceFault for a runner that died or talks nonsense. A
  // `timed` run must report one positive finite time a set, together no longer than the wait: else
  // Violation(time_forged). A runner that was dead before it got the module is replaced first.
  std::variant<Done, Outcome> Call(Stage stage, const ToRunner& message, std::span<const int> fds,
                                   Duration limit);

  // The runner must not be used again.
  void Discard(const std::string& why);

  // What the candidate printed since Begin.
  const std::string& output() const { return output_; }
  // Wall time of the last Call, from before the message left to after its answer.
  Duration last_wait() const { return last_wait_; }

 private:
  std::optional<Outcome> Attach();
  // `dead`: there was no runner any more to load the module, and it is given up.
  std::variant<Done, Outcome> Ask(Stage stage, const ToRunner& message, std::span<const int> fds,
                                  Duration limit, bool& dead);
  Outcome Lost(Stage stage, const Error& error, Duration waited, Duration limit);
  Outcome Nonsense(const std::string& what);
  std::variant<Done, Outcome> Checked(Stage stage, const ToRunner& message, FromRunner answer);
  void Keep(const std::string& output);

  Notify notify_;
  Next next_;
  RunnerLinkOptions options_;
  std::optional<AttachedRunner> runner_;
  uint64_t evaluation_ = 0;
  std::string output_;
  Duration last_wait_{};
};

}  // namespace warpsmith
