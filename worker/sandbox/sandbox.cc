#include "worker/sandbox/sandbox.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/parse.h"
#include "common/runtime/files.h"

namespace warpsmith {
namespace {

std::string Because(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

// Lowers a limit; one that is lower already stays.
std::string Limit(const char* name, int resource, uint64_t value) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return Because(name);
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return Because(name);
  return "";
}

bool DropCapabilities() {
  for (int capability = 0; capability <= 63; ++capability) {
    if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) < 0) break;  // beyond the last one
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

}  // namespace

const char* ToString(FileIsolation isolation) {
  switch (isolation) {
    case FileIsolation::kLandlock: return "landlock";
    case FileIsolation::kNamespaces: return "namespaces";
    case FileIsolation::kNone: return "none";
  }
  return "none";
}

std::string SandboxReport::Describe() const {
  std::string text = std::string("files=") + ToString(files);
  if (files == FileIsolation::kLandlock) text += "(" + std::to_string(landlock_version) + ")";
  text += std::string(" syscalls=") + (syscall_filter ? "filtered" : "unfiltered");
  for (const std::string& problem : missing) text += "; missing: " + problem;
  return text;
}

std::vector<std::filesystem::path> SystemFolders() {
  return {"/usr", "/lib",  "/lib64",           "/lib32",
          "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives"};
}

Result<SandboxReport> EnterSandbox(const SandboxOptions& options) {
  SandboxReport report;
  auto note = [&](std::string problem) {
    if (!problem.empty()) report.missing.push_back(std::move(problem));
  };
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Fail(ErrorCode::kInternal, Because("no_new_privs"));
  }
  // A core dump would hold other candidates' text, and fill the disk.
  note(Limit("limit of core dumps", RLIMIT_CORE, 0));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose shadows are larger
  note(Limit("limit of address space", RLIMIT_AS, options.memory_bytes));
  note(Limit("limit of data", RLIMIT_DATA, options.memory_bytes));
#endif
  note(Limit("limit of CPU time", RLIMIT_CPU, static_cast<uint64_t>(options.cpu.count())));
  note(Limit("limit of file size", RLIMIT_FSIZE, options.file_bytes));
  note(Limit("limit of processes", RLIMIT_NPROC, options.processes));
  note(Limit("limit of open files", RLIMIT_NOFILE, options.open_files));

  std::string landlock = ApplyLandlock(options, &report.landlock_version);
  if (landlock.empty()) {
    report.files = FileIsolation::kLandlock;
  } else {
    std::string namespaces = ApplyNamespaces(options);
    if (namespaces.empty()) {
      report.files = FileIsolation::kNamespaces;
    } else {
      note(landlock);
      note(namespaces);
    }
  }
  if (!DropCapabilities()) return Fail(ErrorCode::kInternal, Because("dropping capabilities"));
  std::string filter = ApplySyscallFilter();
  report.syscall_filter = filter.empty();
  note(std::move(filter));
  return report;
}

Result<SandboxReport> ProbeSandbox() {
  ASSIGN_OR_RETURN(TempDirectory folder, TempDirectory::Make("warpsmith-probe"));
  int ends[2];
  if (pipe(ends) != 0) return Fail(ErrorCode::kExhausted, Because("pipe"));
  pid_t child = fork();
  if (child < 0) return Fail(ErrorCode::kExhausted, Because("fork"));
  if (child == 0) {
    close(ends[0]);
    Result<SandboxReport> tried =
        EnterSandbox({.readable = SystemFolders(), .writable = {folder.path()}});
    std::string line;
    if (tried) {
      line += static_cast<char>('0' + static_cast<int>(tried->files));
      line += tried->syscall_filter ? '1' : '0';
      line += std::to_string(tried->landlock_version);
      for (const std::string& problem : tried->missing) line += "\n" + problem;
    }
    ssize_t written = write(ends[1], line.data(), line.size());
    _exit(written == static_cast<ssize_t>(line.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (n > 0) {
      text.append(buffer, static_cast<size_t>(n));
    } else if (errno != EINTR) {
      break;
    }
  }
  close(ends[0]);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (text.size() < 3) return Fail(ErrorCode::kInternal, "the sandbox's probe ended early");
  SandboxReport report;
  report.files = static_cast<FileIsolation>(text[0] - '0');
  report.syscall_filter = text[1] == '1';
  size_t end = text.find('\n');
  const auto version = ParseWhole<int>(std::string_view(text).substr(2, end - 2));
  if (!version) return Fail(ErrorCode::kInternal, "the sandbox's probe spoke no number");
  report.landlock_version = *version;
  while (end != std::string::npos) {
    size_t next = text.find('\n', end + 1);
    report.missing.push_back(text.substr(end + 1, next - end - 1));
    end = next;
  }
  return report;
}

}  // namespace warpsmith
