#include "worker/host/candidate_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "worker/host/syscall_filter.h"

namespace warpsmith {
namespace {

constexpr unsigned kMemoryExec = 0x10;  // MFD_EXEC, from Linux 6.3 on; older ones always allow it
constexpr Duration kStartLimit = std::chrono::seconds(10);
// Exit statuses of a child that did not become the candidate.
constexpr int kNoFilter = 125;
constexpr int kNoExec = 127;
constexpr int kDyingMs = 500;
// For each worker: a minute or two of work beside the other side's turns, and a stack for every
// thread of a block.
constexpr rlim_t kCpuSecondsEach = 120;
constexpr rlim_t kDataBytesEach = rlim_t{96} << 20;
constexpr rlim_t kDataBytes = rlim_t{4} << 30;

void Limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// In the child after fork: system calls only, and never back.
[[noreturn]] void BecomeCandidate(int executable, int control, int socket, pid_t parent,
                                  const sock_fprog& filter, rlim_t workers) {
  // Out of the way of the numbers that the runtime expects.
  executable = fcntl(executable, F_DUPFD_CLOEXEC, 16);
  control = fcntl(control, F_DUPFD, 16);
  socket = fcntl(socket, F_DUPFD, 16);
  const int null = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2}) dup2(null, fd);
  dup2(control, host::kControlFd);
  dup2(socket, host::kSocketFd);
  close(control);
  close(socket);
  syscall(SYS_close_range, host::kSocketFd + 1, executable - 1, 0);
  syscall(SYS_close_range, executable + 1, ~0u, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, 0);
  Limit(RLIMIT_CPU, kCpuSecondsEach * workers);
  Limit(RLIMIT_DATA, kDataBytes + kDataBytesEach * workers);
  Limit(RLIMIT_AS, RLIM_INFINITY);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(kNoFilter);
  char name[] = "candidate";
  char* argv[] = {name, nullptr};
  char* envp[] = {nullptr};
  syscall(SYS_execveat, executable, "", argv, envp, AT_EMPTY_PATH);
  _exit(kNoExec);
}

std::string StartProblem(const CandidateDeath& death) {
  if (death.fault.text[0] != '\0') return death.fault.text;
  if (death.status == kNoFilter) return "the kernel refuses a system-call filter (seccomp)";
  if (death.status == kNoExec) return "the kernel refuses to execute it (see vm.memfd_noexec)";
  return fmt::format("exit status {}, signal {}", death.status, death.signal);
}

Result<UniqueFd> MakeMemory(const char* name, unsigned flags, size_t bytes) {
  UniqueFd fd(memfd_create(name, flags));
  if (!fd.valid() && errno == EINVAL) fd = UniqueFd(memfd_create(name, flags & ~kMemoryExec));
  if (!fd.valid() || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0)
    return Fail(ErrorCode::kExhausted,
                fmt::format("memory for {}: {}", name, std::strerror(errno)));
  return fd;
}

}  // namespace

Result<std::unique_ptr<CandidateProcess>> CandidateProcess::Start(std::string_view executable,
                                                                  const host::Program& program) {
  ASSIGN_OR_RETURN(UniqueFd image,
                   MakeMemory("candidate", MFD_CLOEXEC | kMemoryExec, executable.size()));
  for (size_t done = 0; done < executable.size();) {
    const ssize_t wrote = pwrite(image.get(), executable.data() + done, executable.size() - done,
                                 static_cast<off_t>(done));
    if (wrote <= 0) return Fail(ErrorCode::kExhausted, "memory for a candidate's executable");
    done += static_cast<size_t>(wrote);
  }
  ASSIGN_OR_RETURN(UniqueFd page, MakeMemory("control", MFD_CLOEXEC, sizeof(host::Control)));
  void* mapped =
      mmap(nullptr, sizeof(host::Control), PROT_READ | PROT_WRITE, MAP_SHARED, page.get(), 0);
  if (mapped == MAP_FAILED)
    return Fail(ErrorCode::kExhausted, "memory for a candidate's control page");
  std::unique_ptr<CandidateProcess> process(new CandidateProcess());
  process->control_ = static_cast<host::Control*>(mapped);
  process->control_->program = program;

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return Fail(ErrorCode::kExhausted, fmt::format("socketpair: {}", std::strerror(errno)));
  process->socket_ = UniqueFd(pair[0]);
  UniqueFd theirs(pair[1]);
  static const Result<std::vector<sock_filter>> instructions = MakeSyscallFilter();
  if (!instructions) return tl::unexpected(instructions.error());
  const sock_fprog filter{static_cast<unsigned short>(instructions->size()),
                          const_cast<sock_filter*>(instructions->data())};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Fail(ErrorCode::kExhausted, fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0)
    BecomeCandidate(image.get(), page.get(), theirs.get(), parent, filter, program.workers);
  process->pid_ = pid;
  theirs.Reset();

  const auto answer = process->Receive(kStartLimit);
  if (!answer)
    return Fail(ErrorCode::kUnavailable, fmt::format("the candidate's process did not start: {}",
                                                     StartProblem(process->death_)));
  if (answer->ok == 0) return Fail(ErrorCode::kUnavailable, answer->text);
  return process;
}

CandidateProcess::~CandidateProcess() {
  if (pid_ > 0) Reap(true);
  munmap(control_, sizeof(host::Control));
}

std::optional<host::Answer> CandidateProcess::Obey(const host::Command& command,
                                                   std::span<const int> fds, Duration limit) {
  if (pid_ < 0) return std::nullopt;
  iovec part{const_cast<host::Command*>(&command), sizeof(command)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * host::kMaxHostBuffers)] = {};
  if (!fds.empty()) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  if (sendmsg(socket_.get(), &message, MSG_NOSIGNAL) != sizeof(command)) {
    Reap(false);
    return std::nullopt;
  }
  return Receive(limit);
}

std::optional<host::Answer> CandidateProcess::Receive(Duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{socket_.get(), POLLIN, 0};
    const int polled = poll(&ready, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled <= 0) {
      Reap(true);
      return std::nullopt;
    }
    host::Answer answer;
    const ssize_t got = recv(socket_.get(), &answer, sizeof(answer), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof(answer)) {
      Reap(false);
      return std::nullopt;
    }
    answer.text[sizeof(answer.text) - 1] = '\0';
    return answer;
  }
}

void CandidateProcess::Reap(bool at_once) {
  // Its socket closed, so it is ending: killing it at once would hide the signal that ended it.
  const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (pidfd.valid() && !at_once) {
    pollfd ended{pidfd.get(), POLLIN, 0};
    poll(&ended, 1, kDyingMs);
  }
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  death_.timed_out = at_once;
  death_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  death_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  death_.fault = control_->fault;
  death_.fault.text[sizeof(death_.fault.text) - 1] = '\0';
}

std::string CandidateProcess::TakeOutput() {
  const uint32_t end =
      std::min(__atomic_load_n(&control_->output_bytes, __ATOMIC_ACQUIRE), host::kOutputBytes);
  if (end <= output_taken_) return "";
  std::string output(control_->output + output_taken_, end - output_taken_);
  output_taken_ = end;
  if (end == host::kOutputBytes && !output_cut_) {
    output += fmt::format("\n[output cut at {} bytes]\n", host::kOutputBytes);
    output_cut_ = true;
  }
  return output;
}

}  // namespace warpsmith
