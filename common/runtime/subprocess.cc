#include "common/runtime/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "common/base/check.h"

// Bits of linux/close_range.h, which older headers lack.
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

namespace warpsmith {
namespace {

constexpr Duration kDeathLimit = std::chrono::seconds(5);      // what SIGKILL may take
constexpr Duration kReapLook = std::chrono::milliseconds(10);  // between tries to reap

// What the child needs, prepared before the fork: between fork and exec nothing may allocate.
struct Prepared {
  std::vector<char*> argv;
  std::vector<std::string> env_text;
  std::vector<char*> env;
  std::vector<std::pair<int, UniqueFd>> fds;  // target -> a copy above every target
  UniqueFd output, errors, input;
  cpu_set_t cores;
  int report = -1;  // failures are written here; closed by exec
};

struct ChildFailure {
  int error = 0;
  char step[24] = {};
};

[[noreturn]] void Report(int report, const char* step) {
  ChildFailure failure;
  failure.error = errno;
  std::strncpy(failure.step, step, sizeof failure.step - 1);
  [[maybe_unused]] const ssize_t n = ::write(report, &failure, sizeof failure);
  ::_exit(127);
}

// Between fork and exec: only async-signal-safe calls.
[[noreturn]] void RunChild(const SubprocessOptions& options, const Prepared& prepared,
                           pid_t parent) {
  const int report = prepared.report;
  if (options.own_group && ::setpgid(0, 0) != 0) Report(report, "setpgid");
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) Report(report, "prctl");
  if (::getppid() != parent) ::_exit(127);  // the parent died before the line above

  for (int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  if (!options.cores.empty() && ::sched_setaffinity(0, sizeof prepared.cores, &prepared.cores) != 0)
    Report(report, "sched_setaffinity");
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0)
    Report(report, "chdir");

  if (::syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC) != 0) Report(report, "close_range");
  if (::dup2(prepared.input.get(), 0) < 0) Report(report, "dup2");
  if (prepared.output.valid() && ::dup2(prepared.output.get(), 1) < 0) Report(report, "dup2");
  if (prepared.errors.valid() && ::dup2(prepared.errors.get(), 2) < 0) Report(report, "dup2");
  for (const auto& [target, copy] : prepared.fds)
    if (::dup2(copy.get(), target) < 0) Report(report, "dup2");

  ::execve(prepared.argv[0], prepared.argv.data(), prepared.env.data());
  Report(report, "exec");
}

tl::unexpected<Error> NoDescriptor(const std::string& what) {
  return Fail(ErrorCode::kExhausted, what + " for a child: " + std::strerror(errno) +
                                         "; raise the limit of open files (ulimit -n)");
}

// Whoever started this program may have left SIGCHLD ignored: then children go without a trace, and
// how they ended cannot be known.
void KeepEndedChildren() {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
    ::signal(SIGCHLD, SIG_DFL);
}

Result<UniqueFd> OpenOutput(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid()) return Fail(ErrorCode::kInternal, "open " + path + ": " + std::strerror(errno));
  return fd;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

Result<Prepared> Prepare(const SubprocessOptions& options) {
  Prepared prepared;
  CHECK(!options.argv.empty(), "a child needs a program");
  for (const std::string& argument : options.argv)
    prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  prepared.env_text = Environment(options.env);
  for (std::string& entry : prepared.env_text) prepared.env.push_back(entry.data());
  prepared.env.push_back(nullptr);

  int above = 3;
  for (const auto& [target, source] : options.fds) above = std::max(above, target + 1);
  for (const auto& [target, source] : options.fds) {
    UniqueFd copy(::fcntl(source, F_DUPFD_CLOEXEC, above));
    if (!copy.valid()) return NoDescriptor("copy descriptor " + std::to_string(source));
    prepared.fds.emplace_back(target, std::move(copy));
  }
  prepared.input = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!prepared.input.valid()) return NoDescriptor("open /dev/null");
  ASSIGN_OR_RETURN(prepared.output, OpenOutput(options.stdout_path));
  ASSIGN_OR_RETURN(prepared.errors, OpenOutput(options.stderr_path));

  CPU_ZERO(&prepared.cores);
  for (int core : options.cores) CPU_SET(static_cast<size_t>(core), &prepared.cores);
  return prepared;
}

int PollUntil(int fd, TimePoint deadline) {
  for (;;) {
    const auto left = std::max(deadline - std::chrono::steady_clock::now(), Duration{});
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(ms, 1'000'000)));
    if (ready > 0) return ready;
    if (ready == 0 && left == Duration{}) return 0;
  }
}

}  // namespace

Result<Subprocess> Subprocess::Start(const SubprocessOptions& options) {
  ASSIGN_OR_RETURN(Prepared prepared, Prepare(options));
  KeepEndedChildren();
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return NoDescriptor("pipe");
  UniqueFd report_read(report[0]);
  int above = 3;
  for (const auto& [target, copy] : prepared.fds) above = std::max(above, target + 1);
  UniqueFd report_write(::fcntl(report[1], F_DUPFD_CLOEXEC, above));
  const int no_report = errno;
  ::close(report[1]);
  if (!report_write.valid()) {
    errno = no_report;
    return NoDescriptor("pipe");
  }
  prepared.report = report_write.get();

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) RunChild(options, prepared, parent);
  if (pid < 0)
    return Fail(ErrorCode::kExhausted, std::string("no process for a child: ") +
                                           std::strerror(errno) +
                                           "; raise the limit of processes or free memory");
  report_write.Reset();

  Subprocess child;
  child.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd_.valid()) {
    const int error = errno;
    ::kill(pid, SIGKILL);  // by its own number: it may have no group yet
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    errno = error;
    return NoDescriptor("pidfd_open");
  }
  child.pid_ = pid;
  child.own_group_ = options.own_group;

  ChildFailure failure;
  ssize_t n;
  do n = ::read(report_read.get(), &failure, sizeof failure);
  while (n < 0 && errno == EINTR);
  if (n == sizeof failure) {
    const bool absent =
        failure.error == ENOENT || failure.error == EACCES || failure.error == ENOEXEC;
    return Fail(
        absent ? ErrorCode::kMissing : ErrorCode::kInternal,
        "start " + options.argv[0] + " (" + failure.step + "): " + std::strerror(failure.error));
  }
  return child;
}

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(own_group_, other.own_group_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(exit_, other.exit_);
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ < 0 || exit_) return;
  Signal(SIGKILL);
  Wait(kDeathLimit);
}

bool Subprocess::running() { return pid_ >= 0 && !Wait(Duration{}); }

// The leader has ended and is still a zombie, so that its group's number is not given to anyone
// else: the moment to end what it left behind. False: it has not ended for us, but for somebody who
// traces it and may never let go.
bool Subprocess::Reap() {
  if (own_group_) ::kill(-pid_, SIGKILL);
  int status = 0;
  pid_t reaped;
  do reaped = ::waitpid(pid_, &status, WNOHANG);
  while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return false;
  exit_ = reaped < 0            ? ExitReport{-1, 0}
          : WIFSIGNALED(status) ? ExitReport{-1, WTERMSIG(status)}
                                : ExitReport{WEXITSTATUS(status), 0};
  pidfd_.Reset();
  return true;
}

std::optional<ExitReport> Subprocess::Wait(Duration timeout) {
  CHECK(pid_ >= 0, "a child was started");
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  while (!exit_ && PollUntil(pidfd_.get(), deadline) > 0 && !Reap()) {
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kReapLook);
  }
  return exit_;
}

void Subprocess::Signal(int signal) {
  if (pid_ >= 0 && !exit_) ::kill(own_group_ ? -pid_ : pid_, signal);
}

std::optional<ExitReport> Subprocess::Stop(Duration grace) {
  Signal(SIGTERM);
  if (auto report = Wait(grace)) return report;
  Signal(SIGKILL);
  return Wait(kDeathLimit);
}

}  // namespace warpsmith
