// A private root of read-only bind mounts, for kernels without Landlock: a new user namespace gives
// the right to a new mount namespace, whose root holds nothing but what is named.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
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

namespace fs = std::filesystem;

std::string Because(const std::string& what) { return what + ": " + std::strerror(errno); }

bool WriteText(const char* path, const std::string& text) {
  UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  return fd.valid() &&
         write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Makes `target` so that `source` can be mounted on it.
std::string MakePlace(const fs::path& source, const fs::path& target) {
  std::error_code error;
  if (fs::is_directory(source, error)) {
    fs::create_directories(target, error);
    return error ? target.string() + ": " + error.message() : "";
  }
  fs::create_directories(target.parent_path(), error);
  UniqueFd fd(open(target.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  return fd.valid() ? "" : Because(target);
}

std::string Bind(const fs::path& root, const fs::path& path, bool writable) {
  std::error_code error;
  fs::path target = root / path.relative_path();
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    // /lib on a merged /usr: the same link, to the same relative or absolute place in the new root.
    fs::create_directories(target.parent_path(), error);
    fs::copy_symlink(path, target, error);
    return "";
  }
  if (!fs::exists(path, error)) return "";
  if (std::string problem = MakePlace(path, target); !problem.empty()) return problem;
  if (mount(path.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return Because("bind " + path.string());
  }
  if (writable) return "";
  unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV;
  if (mount(nullptr, target.c_str(), nullptr, flags, nullptr) != 0) {
    return Because("read-only " + path.string());
  }
  return "";
}

std::string BuildRoot(const SandboxOptions& options, const fs::path& root) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return Because("private /");
  if (mount("none", root.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m") != 0) {
    return Because("tmpfs");
  }
  for (const fs::path& path : options.readable) {
    if (std::string problem = Bind(root, path, false); !problem.empty()) return problem;
  }
  for (const fs::path& path : options.writable) {
    if (std::string problem = Bind(root, path, true); !problem.empty()) return problem;
  }
  for (const char* device : {"/dev/null", "/dev/urandom"}) {
    if (std::string problem = Bind(root, device, true); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

std::string ApplyNamespaces(const SandboxOptions& options) {
  const uid_t uid = getuid();
  const gid_t gid = getgid();
  // The writable folder is ours already; the new root is mounted over a folder of our own beside
  // it.
  if (options.writable.empty()) return "no folder to build a root in";
  fs::path root = options.writable.front() / ".root";
  std::error_code error;
  fs::create_directories(root, error);
  if (error) return root.string() + ": " + error.message();
  std::string here = fs::current_path(error).string();

  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
    return Because("the kernel allows no user namespaces");
  }
  WriteText("/proc/self/setgroups", "deny");
  if (!WriteText("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1") ||
      !WriteText("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1")) {
    return Because("map of users");
  }
  if (std::string problem = BuildRoot(options, root); !problem.empty()) return problem;
  if (chdir(root.c_str()) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) {
    return Because("pivot_root");
  }
  if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) return Because("leave the old root");
  if (mount(nullptr, "/", nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0) {
    return Because("read-only root");
  }
  if (chdir(here.c_str()) != 0 && chdir("/") != 0) return Because("folder");
  return "";
}

}  // namespace warpsmith
