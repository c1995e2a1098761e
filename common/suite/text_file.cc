#include "common/suite/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "common/base/unique_fd.h"

namespace warpsmith {
namespace {

tl::unexpected<Error> CannotRead(const std::filesystem::path& path, int error) {
  if (error == ENOENT || error == ENOTDIR)
    return Fail(ErrorCode::kNotFound, fmt::format("{}: no such file", path.string()));
  if (error == EISDIR)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: a folder; name a file in it", path.string()));
  return Fail(error == EACCES ? ErrorCode::kInvalidInput : ErrorCode::kNotFound,
              fmt::format("{}: cannot be read: {}{}", path.string(), std::strerror(error),
                          error == EACCES ? "; check its permissions" : ""));
}

// Whether there is something to read, or its end; no, where nothing came for so long.
bool Readable(int fd, Duration wait) {
  pollfd entry{fd, POLLIN, 0};
  const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
  int ready = 0;
  do ready = ::poll(&entry, 1, static_cast<int>(wait_ms));
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

tl::unexpected<Error> NothingCame(const std::filesystem::path& path, Duration wait) {
  return Fail(ErrorCode::kNotFound,
              fmt::format("{}: nothing came out of it for {:g} s; name a file, or write into it",
                          path.string(), std::chrono::duration<double>(wait).count()));
}

}  // namespace

Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes,
                                 PipePatience patience) {
  // A pipe is opened without waiting for its writer: there may never be one.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return CannotRead(path, errno);
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return CannotRead(path, errno);
  if (S_ISDIR(status.st_mode)) return CannotRead(path, EISDIR);
  bool silent = !S_ISREG(status.st_mode) && !Readable(fd.get(), patience.for_a_writer);

  std::string text;
  char buffer[64 << 10];
  // One byte more than allowed tells a file that is too long, also one that grows meanwhile.
  while (text.size() <= max_bytes) {
    const size_t wanted = std::min(sizeof buffer, max_bytes + 1 - text.size());
    const ssize_t n = ::read(fd.get(), buffer, wanted);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0 && silent) return NothingCame(path, patience.for_a_writer);  // it has none
    if (n == 0) return text;
    silent = false;
    if (n > 0)
      text.append(buffer, static_cast<size_t>(n));
    else if (errno != EAGAIN)
      return CannotRead(path, errno);
    else if (!Readable(fd.get(), patience.for_its_words))
      return NothingCame(path, patience.for_its_words);
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: more than {} bytes", path.string(), max_bytes));
}

}  // namespace warpsmith
