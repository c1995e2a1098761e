// Landlock by its system calls: no library is needed, and what the headers of the build machine do
// not know is left out.
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/unique_fd.h"
#include "worker/sandbox/sandbox.h"

namespace warpsmith {
namespace {

// Rights by version of the interface; the headers may be older than the kernel.
constexpr uint64_t kExecute = 1ull << 0;
constexpr uint64_t kWriteFile = 1ull << 1;
constexpr uint64_t kReadFile = 1ull << 2;
constexpr uint64_t kReadDir = 1ull << 3;
constexpr uint64_t kRemoveDir = 1ull << 4;
constexpr uint64_t kRemoveFile = 1ull << 5;
constexpr uint64_t kMakeDir = 1ull << 7;
constexpr uint64_t kMakeReg = 1ull << 8;
constexpr uint64_t kAllFirst = (1ull << 13) - 1;  // version 1
constexpr uint64_t kRefer = 1ull << 13;           // version 2
constexpr uint64_t kTruncate = 1ull << 14;        // version 3
constexpr uint64_t kIoctlDevice = 1ull << 15;     // version 5
constexpr uint64_t kBindTcp = 1ull << 0;          // version 4
constexpr uint64_t kConnectTcp = 1ull << 1;
constexpr uint64_t kScopeAbstractSocket = 1ull << 0;  // version 6
constexpr uint64_t kScopeSignal = 1ull << 1;

constexpr uint64_t kRead = kExecute | kReadFile | kReadDir;
constexpr uint64_t kWrite =
    kReadFile | kReadDir | kWriteFile | kRemoveDir | kRemoveFile | kMakeDir | kMakeReg | kTruncate;
constexpr uint64_t kOfFiles = kExecute | kReadFile | kWriteFile | kTruncate;

struct Ruleset {  // landlock_ruleset_attr of version 6
  uint64_t files = 0;
  uint64_t network = 0;
  uint64_t scoped = 0;
};

size_t SizeFor(int version) {
  if (version >= 6) return sizeof(Ruleset);
  return version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

std::string Because(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

std::string Allow(int ruleset, const std::filesystem::path& path, uint64_t rights) {
  UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) return errno == ENOENT ? "" : Because(path.c_str());  // nothing to allow
  struct stat about {};
  if (fstat(fd.get(), &about) != 0) return Because(path.c_str());
  if (!S_ISDIR(about.st_mode)) rights &= kOfFiles;
  landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = fd.get()};
  if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) {
    return Because(path.c_str());
  }
  return "";
}

}  // namespace

std::string ApplyLandlock(const SandboxOptions& options, int* version) {
  long found = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (found < 1) return Because("the kernel has no Landlock");
  *version = static_cast<int>(found);

  Ruleset attributes{.files = kAllFirst};
  if (found >= 2) attributes.files |= kRefer;
  if (found >= 3) attributes.files |= kTruncate;
  if (found >= 4) attributes.network = kBindTcp | kConnectTcp;
  if (found >= 5) attributes.files |= kIoctlDevice;
  if (found >= 6) attributes.scoped = kScopeAbstractSocket | kScopeSignal;
  UniqueFd ruleset(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, SizeFor(*version), 0)));
  if (!ruleset.valid()) return Because("landlock_create_ruleset");

  for (const auto& path : options.readable) {
    std::string problem = Allow(ruleset.get(), path, kRead);
    if (!problem.empty()) return problem;
  }
  for (const auto& path : options.writable) {
    std::string problem = Allow(ruleset.get(), path, kWrite & attributes.files);
    if (!problem.empty()) return problem;
  }
  std::string problem =
      Allow(ruleset.get(), "/dev/null", (kReadFile | kWriteFile | kTruncate) & attributes.files);
  if (problem.empty()) problem = Allow(ruleset.get(), "/dev/urandom", kReadFile);
  if (!problem.empty()) return problem;

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Because("no_new_privs");
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return Because("landlock_restrict_self");
  }
  return "";
}

}  // namespace warpsmith
