#include "worker/compiler/group_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/unique_fd.h"

namespace warpsmith {
namespace {

// Holds nothing open but what it watches: `self` ends with the process that is guarded.
[[noreturn]] void Watch(int self, int parent) {
  const auto low = static_cast<unsigned>(std::max(std::min(self, parent), 0));
  const auto high = static_cast<unsigned>(std::max(self, parent));
  const auto close_between = [](unsigned from, unsigned to) {
    if (from <= to) ::syscall(SYS_close_range, from, to, 0);
  };
  if (low > 0) close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, ~0u);
  pollfd ends[2] = {{self, POLLIN, 0}, {parent, POLLIN, 0}};
  while (::poll(ends, 2, -1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

Status GuardGroup() {
  if (::getpgrp() != ::getpid()) return {};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorCode::kExhausted, std::string("no pipe: ") + std::strerror(errno));
  const UniqueFd self(ends[0]);
  // A taken-over compiler can rid itself of its own parent-death signal. Invalid where the parent
  // cannot be seen: then only this process is watched.
  const UniqueFd parent(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)));
  const pid_t guard = ::fork();
  if (guard == 0) Watch(self.get(), parent.get());
  if (guard < 0) {
    ::close(ends[1]);
    return Fail(ErrorCode::kExhausted, std::string("no process: ") + std::strerror(errno));
  }
  return {};  // the other end stays open as long as this process lives
}

}  // namespace warpsmith
