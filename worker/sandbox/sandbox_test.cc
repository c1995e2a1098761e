// A child enters the sandbox and tries what hostile text would try. Each way of isolating files
// that this machine has is tried by itself.
#include "worker/sandbox/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "common/runtime/files.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

// The exit status of a child that ran `body`; -signal if one ended it.
int InChild(const std::function<int()>& body) {
  pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool CanRead(const fs::path& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char byte;
  bool read_it = read(fd, &byte, 1) == 1;
  close(fd);
  return read_it;
}

bool CanWrite(const fs::path& path) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  bool wrote = write(fd, "x", 1) == 1;
  close(fd);
  return wrote;
}

int Shell(const std::string& command) {
  int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

class Sandbox : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(*TempDirectory::Make("sandbox-test"));
    outside_ = std::move(*TempDirectory::Make("sandbox-outside"));
    fs::create_directories(Temp());
    std::ofstream(outside_.path() / "secret") << "secret";
    std::ofstream(Temp() / "unit.cc") << "#include <cstdio>\nint main() { std::puts(\"hi\"); }\n";
    options_.readable = SystemFolders();
    options_.writable = {Temp()};
  }

  fs::path Temp() const { return folder_.path() / "temp"; }
  fs::path Secret() const { return outside_.path() / "secret"; }

  // 0: files are closed off, and what a compiler needs is open.
  int TryFiles() const {
    if (CanRead("/etc/hostname")) return 10;
    if (CanRead("/etc/passwd")) return 11;
    if (CanRead(Secret())) return 12;
    if (CanWrite(outside_.path() / "new")) return 13;
    if (CanWrite("/usr/warpsmith-was-here")) return 14;
    if (CanRead("/proc/1/environ")) return 15;
    if (!CanRead("/usr/bin/env")) return 20;
    if (!CanWrite(Temp() / "new")) return 21;
    if (!CanWrite("/dev/null")) return 22;
    return 0;
  }
  int TryCompiling() const {
    return Shell("cd " + Temp().string() + " && TMPDIR=" + Temp().string() +
                 " g++ -O1 unit.cc -o unit 2>&1");
  }

  TempDirectory folder_;
  TempDirectory outside_;
  SandboxOptions options_;
};

TEST_F(Sandbox, ClosesFilesOffByLandlock) {
  int version = 0;
  int status = InChild([&] {
    std::string problem = ApplyLandlock(options_, &version);
    if (!problem.empty()) return 99;
    return TryFiles();
  });
  if (status == 99) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(status, 0);
}

TEST_F(Sandbox, ClosesFilesOffByNamespaces) {
  int status = InChild([&] {
    std::string problem = ApplyNamespaces(options_);
    if (!problem.empty()) {
      std::fprintf(stderr, "%s\n", problem.c_str());
      return 99;
    }
    if (int trouble = TryFiles()) return trouble;
    return TryCompiling();
  });
  if (status == 99) GTEST_SKIP() << "no user namespaces here";
  EXPECT_EQ(status, 0);
}

TEST_F(Sandbox, StillCompilesAndLinks) {
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              return TryCompiling();
            }),
            0);
  EXPECT_TRUE(fs::exists(Temp() / "unit"));
}

TEST_F(Sandbox, IsWholeHereAndSaysWhatItIs) {
  Result<SandboxReport> report = ProbeSandbox();
  ASSERT_TRUE(report) << report.error().message;
  if (report->files == FileIsolation::kNone) GTEST_SKIP() << report->Describe();
  EXPECT_TRUE(report->syscall_filter);
  EXPECT_TRUE(report->missing.empty()) << report->Describe();
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              return TryFiles();
            }),
            0);
}

TEST_F(Sandbox, HasNoNetwork) {
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 1;
              if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) return 2;
              if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0) return 3;
              return 0;
            }),
            0);
}

TEST_F(Sandbox, TheSocketOfTheParentWorksOn) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              return send(ends[1], "a", 1, 0) == 1 ? 0 : 1;
            }),
            0);
  char byte = 0;
  EXPECT_EQ(recv(ends[0], &byte, 1, 0), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Sandbox, CannotTouchOtherProcesses) {
  const pid_t parent = getpid();
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              if (kill(parent, 0) == 0) return 1;
              if (ptrace(PTRACE_ATTACH, parent, nullptr, nullptr) == 0) return 2;
              if (setsid() >= 0) return 3;
              rlimit limit{};
              if (prlimit(parent, RLIMIT_CORE, nullptr, &limit) == 0) return 4;
              return 0;
            }),
            0);
}

TEST_F(Sandbox, CannotRaiseItsLimitsOrItsRights) {
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
              if (setrlimit(RLIMIT_FSIZE, &limit) == 0) return 1;
              if (setuid(12345) == 0 && getuid() == 12345) return 2;
              if (chroot("/") == 0) return 3;
              return 0;
            }),
            0);
}

TEST_F(Sandbox, MemoryIsBounded) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs its address space";
#endif
  options_.memory_bytes = 512ull << 20;
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              void* much = std::malloc(1ull << 30);
              bool got_it = much != nullptr;
              std::free(much);
              return got_it ? 1 : 0;
            }),
            0);
}

TEST_F(Sandbox, CpuTimeIsBounded) {
  options_.cpu = std::chrono::seconds(1);
  EXPECT_EQ(InChild([&] {
              if (!EnterSandbox(options_)) return 98;
              for (volatile unsigned i = 0;;) i = i + 1;
              return 0;
            }),
            -SIGKILL);
}

TEST_F(Sandbox, FilesAreBounded) {
  options_.file_bytes = 1000;
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              if (!EnterSandbox(options_)) return 98;
              int fd = open((Temp() / "big").c_str(), O_WRONLY | O_CREAT, 0600);
              std::string text(2000, 'x');
              return write(fd, text.data(), text.size()) > 1000 ? 1 : 0;
            }),
            0);
}

}  // namespace
}  // namespace warpsmith
