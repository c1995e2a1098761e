#include "common/runtime/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> FileError(const char* verb, const fs::path& path, int error) {
  const std::string what = std::string(verb) + " " + path.string() + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Fail(ErrorCode::kNotFound, what);
    case EFBIG:
    case ENOSPC:
    case EDQUOT: return Fail(ErrorCode::kExhausted, what + "; free some space on this file system");
    case EACCES:
    case EPERM:
    case EROFS:
      return Fail(ErrorCode::kInvalidInput, what + "; choose another place, or allow it here");
    case EMFILE:
    case ENFILE:
      return Fail(ErrorCode::kExhausted, what + "; raise the limit of open files (ulimit -n)");
    default: return Fail(ErrorCode::kInternal, what);
  }
}

Status SyncFolderOf(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return FileError("open", folder, errno);
  if (::fsync(fd.get()) != 0) return FileError("sync", folder, errno);
  return {};
}

Status WriteAll(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      return FileError("write", path, errno);
    }
  }
  return {};
}

Status WriteAndSync(const fs::path& path, std::string_view bytes) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return FileError("create", path, errno);
  RETURN_IF_ERROR(WriteAll(fd.get(), bytes, path));
  if (::fsync(fd.get()) != 0) return FileError("sync", path, errno);
  return {};
}

Status Rename(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return FileError("rename to", to, errno);
  return SyncFolderOf(to);
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, uint64_t max_bytes) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FileError("open", path, errno);
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return FileError("look at", path, errno);
  if (S_ISDIR(status.st_mode)) return FileError("read", path, EISDIR);

  std::string bytes;
  bytes.reserve(std::min<uint64_t>(static_cast<uint64_t>(status.st_size), max_bytes) + 1);
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n == 0) return bytes;
    if (n < 0) {
      if (errno == EINTR) continue;
      return FileError("read", path, errno);
    }
    bytes.append(buffer, static_cast<size_t>(n));
    if (bytes.size() > max_bytes)
      return Fail(ErrorCode::kExhausted,
                  path.string() + " is larger than " + std::to_string(max_bytes) + " bytes");
  }
}

Status WriteStdout(std::string_view text) {
  const bool lost = std::ferror(stdout) != 0;  // and nobody remembers why
  errno = EIO;
  if (std::fflush(stdout) == 0 && std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0 && !lost)
    return {};
  return FileError("write", "the standard output", errno);
}

Status MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return FileError("make folder", path, error.value());
  return {};
}

Result<UniqueFd> LockDirectory(const fs::path& directory, std::string_view user) {
  const fs::path path = directory / "lock";
  UniqueFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) return FileError("open", path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FileError("lock", path, errno);
  return Fail(ErrorCode::kExhausted, "another " + std::string(user) + " runs in " +
                                         directory.string() +
                                         "; stop it, or choose another --directory");
}

Status WriteFileAtomically(const fs::path& path, std::string_view bytes) {
  if (path.has_parent_path()) RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
  // Two writers of one path, in one process or in two, never share a temporary.
  static std::atomic<uint64_t> count{0};
  fs::path temporary = path;
  temporary += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
  auto status = WriteAndSync(temporary, bytes);
  if (status) status = Rename(temporary, path);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

Status CommitFile(const fs::path& temporary, const fs::path& path) {
  UniqueFd fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return FileError("open", temporary, errno);
  if (::fsync(fd.get()) != 0) return FileError("sync", temporary, errno);
  return Rename(temporary, path);
}

Result<TempDirectory> TempDirectory::Make(std::string_view prefix) {
  const char* base = std::getenv("TMPDIR");
  std::string name =
      std::string(base && *base ? base : "/tmp") + "/" + std::string(prefix) + "-XXXXXX";
  if (!::mkdtemp(name.data())) return FileError("make folder", name, errno);
  TempDirectory made;
  made.path_ = name;
  return made;
}

TempDirectory::TempDirectory(TempDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TempDirectory& TempDirectory::operator=(TempDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace warpsmith
