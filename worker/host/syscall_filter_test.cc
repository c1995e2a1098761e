// What a process under a candidate's filter can do, each tried in a child of its own.
#include "worker/host/syscall_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace warpsmith {
namespace {

constexpr int kKilled = -SIGSYS;

// The errno of the call under the filter, 0 where it worked, or minus the signal that it met.
template <typename... Arguments>
int Under(const std::vector<sock_filter>& filter, long call, Arguments... arguments) {
  const pid_t pid = fork();
  if (pid == 0) {
    const sock_fprog program{static_cast<unsigned short>(filter.size()),
                             const_cast<sock_filter*>(filter.data())};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      _exit(255);
    _exit(syscall(call, arguments...) < 0 ? errno : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class SyscallFilter : public testing::Test {
 protected:
  std::vector<sock_filter> filter_ = MakeSyscallFilter().value();
  int Map(int protection, long call = SYS_mmap) {
    return Under(filter_, call, nullptr, 4096L, static_cast<long>(protection),
                 static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
  }
};

TEST_F(SyscallFilter, EndsWhoeverReachesOut) {
  EXPECT_EQ(Under(filter_, SYS_socket, AF_INET, SOCK_STREAM, 0), kKilled);
  EXPECT_EQ(Under(filter_, SYS_openat, AT_FDCWD, "/etc/passwd", 0, 0), kKilled);
  EXPECT_EQ(Under(filter_, SYS_open, "/etc/passwd", 0, 0), kKilled);
  EXPECT_EQ(Under(filter_, SYS_execve, "/bin/true", nullptr, nullptr), kKilled);
  EXPECT_EQ(Under(filter_, SYS_kill, getpid(), 0), kKilled);
  EXPECT_EQ(Under(filter_, SYS_ptrace, 0, 0, 0, 0), kKilled);
  EXPECT_EQ(Under(filter_, SYS_fork), kKilled);
  EXPECT_EQ(Under(filter_, SYS_clone, static_cast<long>(SIGCHLD), 0, 0, 0, 0), kKilled);
}

TEST_F(SyscallFilter, MemoryIsNeverExecutable) {
  EXPECT_EQ(Map(PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(Map(PROT_READ | PROT_EXEC), kKilled);
  EXPECT_EQ(Map(PROT_READ | PROT_WRITE | PROT_EXEC), kKilled);
  EXPECT_EQ(Under(filter_, SYS_mprotect, 0L, 0L, static_cast<long>(PROT_READ)), 0);
  EXPECT_EQ(Under(filter_, SYS_mprotect, 0L, 0L, static_cast<long>(PROT_EXEC)), kKilled);
}

TEST_F(SyscallFilter, NumbersOfAnotherAbiAreNoWayAround) {
  constexpr long kX32 = 0x40000000;
  EXPECT_EQ(Under(filter_, kX32 | SYS_getpid), kKilled);
}

TEST_F(SyscallFilter, WhatLibcTriesAndDoesWithoutIsAnError) {
  char buffer[8];
  EXPECT_EQ(Under(filter_, SYS_clone3, nullptr, 0), ENOSYS);
  EXPECT_EQ(Under(filter_, SYS_readlink, "/proc/self/exe", buffer, sizeof(buffer)), EACCES);
  EXPECT_EQ(Under(filter_, SYS_readlinkat, AT_FDCWD, "/proc/self/exe", buffer, 8), EACCES);
  EXPECT_EQ(Under(filter_, SYS_newfstatat, AT_FDCWD, "/", buffer, 0), EACCES);
}

TEST_F(SyscallFilter, LetsARuntimeLive) {
  EXPECT_EQ(Under(filter_, SYS_getpid), 0);
  EXPECT_EQ(Under(filter_, SYS_sched_yield), 0);
  EXPECT_EQ(Under(filter_, SYS_brk, 0L), 0);
  EXPECT_EQ(Under(filter_, SYS_write, -1, "", 0), EBADF) << "reached the kernel";
  // A thread without a stack of its own would not live: the kernel refuses its flags.
  EXPECT_EQ(Under(filter_, SYS_clone, static_cast<long>(CLONE_THREAD), 0, 0, 0, 0), EINVAL);
}

}  // namespace
}  // namespace warpsmith
