// A deny-list of system calls: g++ and its linker need many ordinary ones, none of these.
#include <linux/sched.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "worker/sandbox/sandbox.h"

namespace warpsmith {
namespace {

constexpr const char* kDenied[] = {
    // Network: what is open already (the socketpair to the parent) works on.
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
    // Other processes.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd",
    "pidfd_send_signal", "kcmp", "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "setpriority", "sched_setscheduler", "sched_setparam", "sched_setattr",
    // Leaving the parent's group, which it kills as one.
    "setsid", "setpgid",
    // Mounts, roots, namespaces.
    "mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "fsopen", "fsconfig", "fsmount",
    "fspick", "move_mount", "open_tree", "mount_setattr",
    // Doors around the file rules, and wide parts of the kernel.
    "open_by_handle_at", "name_to_handle_at", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key",
    "request_key", "memfd_secret", "fanotify_init", "inotify_init", "inotify_init1", "mknod",
    "mknodat", "quotactl", "acct", "swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "iopl", "ioperm", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "syslog", "lookup_dcookie", "vhangup", "uselib",
    "personality", "modify_ldt", "shmget", "shmat", "msgget", "semget", "mq_open", "setuid",
    "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
    "capset", "seccomp"};

constexpr uint64_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

}  // namespace

std::string ApplySyscallFilter() {
  std::unique_ptr<void, void (*)(void*)> filter(seccomp_init(SCMP_ACT_ALLOW), [](void* f) {
    if (f) seccomp_release(f);
  });
  if (!filter) return "seccomp: no memory";
  int problem = 0;
  auto deny = [&](int call, int error, auto... conditions) {
    if (call == __NR_SCMP_ERROR) return;  // this architecture has no such call
    int result = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(static_cast<uint32_t>(error)), call,
                                  sizeof...(conditions), conditions...);
    if (result != 0 && problem == 0) problem = result;
  };
  for (const char* name : kDenied) deny(seccomp_syscall_resolve_name(name), EPERM);
  // clone3 hides its flags from a filter: the C library falls back to clone when it is not there.
  deny(seccomp_syscall_resolve_name("clone3"), ENOSYS);
  for (uint64_t bit = 1; bit <= kNewNamespaces && bit != 0; bit <<= 1) {
    if (kNewNamespaces & bit) {
      deny(SCMP_SYS(clone), EPERM, SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
    }
  }
  // Limits of others; and typing into a terminal.
  deny(SCMP_SYS(prlimit64), EPERM, SCMP_A0(SCMP_CMP_NE, 0));
  deny(SCMP_SYS(ioctl), EPERM, SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffull, TIOCSTI));
  if (problem == 0) problem = seccomp_load(filter.get());
  return problem == 0 ? "" : std::string("seccomp: ") + std::strerror(-problem);
}

}  // namespace warpsmith
