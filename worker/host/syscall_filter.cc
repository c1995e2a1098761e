#include "worker/host/syscall_filter.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "common/base/unique_fd.h"

namespace warpsmith {
namespace {

constexpr int kAllowed[] = {SCMP_SYS(read),
                            SCMP_SYS(write),
                            SCMP_SYS(recvmsg),
                            SCMP_SYS(munmap),
                            SCMP_SYS(brk),
                            SCMP_SYS(arch_prctl),
                            SCMP_SYS(rseq),
                            SCMP_SYS(prlimit64),
                            SCMP_SYS(set_tid_address),
                            SCMP_SYS(getrandom),
                            SCMP_SYS(futex),
                            SCMP_SYS(set_robust_list),
                            SCMP_SYS(rt_sigaction),
                            SCMP_SYS(rt_sigprocmask),
                            SCMP_SYS(rt_sigreturn),
                            SCMP_SYS(sigaltstack),
                            SCMP_SYS(exit),
                            SCMP_SYS(exit_group),
                            SCMP_SYS(sched_yield),
                            SCMP_SYS(madvise),
                            SCMP_SYS(sched_getaffinity),
                            SCMP_SYS(close),
                            SCMP_SYS(execveat),
                            SCMP_SYS(getpid),
                            SCMP_SYS(gettid),
                            SCMP_SYS(tgkill)};

// libseccomp 2.5 writes its program into a file only.
Result<std::vector<sock_filter>> Export(scmp_filter_ctx filter) {
  const UniqueFd file(memfd_create("filter", MFD_CLOEXEC));
  struct stat facts {};
  if (!file.valid() || seccomp_export_bpf(filter, file.get()) != 0 ||
      fstat(file.get(), &facts) != 0)
    return Fail(ErrorCode::kExhausted, "memory for a system-call filter");
  std::vector<sock_filter> program(static_cast<size_t>(facts.st_size) / sizeof(sock_filter));
  if (pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0) != facts.st_size)
    return Fail(ErrorCode::kInternal, "a system-call filter cannot be read back");
  return program;
}

}  // namespace

Result<std::vector<sock_filter>> MakeSyscallFilter() {
  const std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_KILL_PROCESS),
                                                      [](void* f) {
                                                        if (f) seccomp_release(f);
                                                      });
  if (!filter) return Fail(ErrorCode::kExhausted, "memory for a system-call filter");
  // Calls by the numbers of another architecture.
  int problem = seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  const auto add = [&](uint32_t action, int call, auto... conditions) {
    const int result =
        seccomp_rule_add(filter.get(), action, call, sizeof...(conditions), conditions...);
    if (problem == 0) problem = result;
  };
  for (const int call : kAllowed) add(SCMP_ACT_ALLOW, call);
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})  // never executable
    add(SCMP_ACT_ALLOW, call, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // Threads, no processes.
  add(SCMP_ACT_ALLOW, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  // Its flags cannot be seen: libc falls back to clone.
  add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  // libc asks for its own path at start and does without.
  for (const int call : {SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(newfstatat)})
    add(SCMP_ACT_ERRNO(EACCES), call);
  if (problem != 0)
    return Fail(ErrorCode::kInternal, std::string("libseccomp: ") + std::strerror(-problem));
  return Export(filter.get());
}

}  // namespace warpsmith
