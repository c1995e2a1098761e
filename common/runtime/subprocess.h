// Child processes that cannot be left behind: each is in a process group of its own, dies with its
// parent (PR_SET_PDEATHSIG), and inherits only the descriptors named. Standard input is /dev/null
// unless named. The kernel ties a child to the thread that started it: start children from a thread
// that lives as long as they may.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace warpsmith {

struct SubprocessOptions {
  std::vector<std::string> argv;           // argv[0]: path of the program
  std::map<int, int> fds;                  // descriptor in the child -> descriptor here
  std::map<std::string, std::string> env;  // added to this process's environment
  std::string directory;                   // empty: this process's
  std::string stdout_path;                 // empty: this process's; "/dev/null" to drop
  std::string stderr_path;
  // False: it stays in this process's group, and Signal reaches it alone. For a process that is
  // itself a sandboxed child: whoever ends its group ends this one too.
  bool own_group = true;
  std::vector<int> cores;  // affinity; empty: inherit
};

// How a child ended.
struct ExitReport {
  int status = 0;  // exit status; -1: a signal, or (with signal 0) nobody knows
  int signal = 0;  // the signal that ended it, or 0
};

// Thread-compatible. When the child has ended, whatever it left in its group is killed too. The
// destructor kills the group and reaps; nothing here waits without limit for a child that will not
// die.
class Subprocess {
 public:
  Subprocess() = default;
  // kMissing: the program cannot be found or run; kExhausted: no process or descriptor is left.
  static Result<Subprocess> Start(const SubprocessOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }
  bool running();
  // Nothing while it runs on after `timeout`.
  std::optional<ExitReport> Wait(Duration timeout);
  void Signal(int signal);  // to the whole group
  // SIGTERM, then SIGKILL after `grace`; reaps. Nothing: it would not die even then.
  std::optional<ExitReport> Stop(Duration grace);

 private:
  bool Reap();

  pid_t pid_ = -1;
  bool own_group_ = true;
  UniqueFd pidfd_;
  std::optional<ExitReport> exit_;
};

}  // namespace warpsmith
