// A candidate's process as the runner sees it: started from memory under a system-call filter,
// driven over a socket, killed at will. What it says is evidence (runtime/protocol.h).
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/unique_fd.h"
#include "worker/host/runtime/protocol.h"

namespace warpsmith {

// How a process ended that did not answer.
struct CandidateDeath {
  host::Fault fault;       // kNone: it left no report
  int signal = 0;          // that ended it, or 0
  int status = 0;          // its exit status otherwise
  bool timed_out = false;  // killed here, at the limit
};

// Thread-compatible; one thread starts and drives it, since the process dies with that thread. The
// destructor kills it and reaps.
class CandidateProcess {
 public:
  // Starts it with all device globals as the executable says, and waits until its workers are up.
  // kUnavailable: it did not come up; the message says why.
  static Result<std::unique_ptr<CandidateProcess>> Start(std::string_view executable,
                                                         const host::Program& program);
  ~CandidateProcess();

  // Sends the command and waits. Nothing: the process is gone; Death() says how. An answer that is
  // not `ok` says why the runtime refused.
  std::optional<host::Answer> Obey(const host::Command& command, std::span<const int> fds,
                                   Duration limit);
  pid_t pid() const { return pid_; }
  const CandidateDeath& Death() const { return death_; }

  // What it printed since the last call, cut at host::kOutputBytes in all.
  std::string TakeOutput();

 private:
  CandidateProcess() = default;
  std::optional<host::Answer> Receive(Duration limit);
  // Ends it: at once, or after a moment in which it may end by itself.
  void Reap(bool at_once);

  pid_t pid_ = -1;
  UniqueFd socket_;
  host::Control* control_ = nullptr;
  uint32_t output_taken_ = 0;
  bool output_cut_ = false;
  CandidateDeath death_;
};

}  // namespace warpsmith
