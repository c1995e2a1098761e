#include "common/net/frame_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace warpsmith {
namespace {

constexpr uint32_t kMagic = 0x31465357;  // "WSF1"
constexpr size_t kReadChunk = 256 << 10;

// On the wire, in host byte order: both ends are on one host.
struct Header {
  uint32_t magic = kMagic;
  uint32_t descriptors = 0;
  uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 16);

// Descriptors arrive in the kernel's control messages; SCM_RIGHTS takes far more than we allow.
union ControlBuffer {
  cmsghdr alignment;
  char bytes[CMSG_SPACE(sizeof(int) * kMaxFrameDescriptors)];
};

bool PeerGone(int error) {
  return error == EPIPE || error == ECONNRESET || error == ENOTCONN || error == EBADF;
}

// Whether the socket became ready in the time left; an error or a hang-up counts as ready.
bool WaitFor(int fd, short events, TimePoint deadline) {
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    pollfd entry{fd, events, 0};
    const auto wait_ms =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(left, Duration{})).count();
    const int ready = ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(wait_ms, 1'000'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;
    if (ready == 0 && left <= Duration{}) return false;
  }
}

void TakeDescriptors(msghdr& message, std::vector<UniqueFd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      into.emplace_back(fd);
    }
  }
}

}  // namespace

Result<std::pair<FrameSocket, FrameSocket>> FrameSocket::MakePair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return Fail(ErrorCode::kExhausted, std::string("no socket pair: ") + std::strerror(errno) +
                                           "; raise the limit of open files (ulimit -n)");
  return std::pair(FrameSocket(UniqueFd(fds[0])), FrameSocket(UniqueFd(fds[1])));
}

Status FrameSocket::Send(std::span<const char> bytes, std::span<const int> fds, Duration timeout) {
  if (bytes.size() > kMaxFrameBytes || fds.size() > kMaxFrameDescriptors)
    return Fail(ErrorCode::kInvalidInput, "a frame of " + std::to_string(bytes.size()) +
                                              " bytes and " + std::to_string(fds.size()) +
                                              " descriptors is over the limit");
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  const Header header{kMagic, static_cast<uint32_t>(fds.size()), bytes.size()};

  size_t sent = 0;
  const size_t total = sizeof header + bytes.size();
  while (sent < total) {
    iovec parts[2];
    int count = 0;
    if (sent < sizeof header)
      parts[count++] = {reinterpret_cast<char*>(const_cast<Header*>(&header)) + sent,
                        sizeof header - sent};
    const size_t body = sent > sizeof header ? sent - sizeof header : 0;
    if (body < bytes.size())
      parts[count++] = {const_cast<char*>(bytes.data()) + body, bytes.size() - body};

    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<size_t>(count);
    ControlBuffer control{};
    if (sent == 0 && !fds.empty()) {  // descriptors travel with the first byte
      message.msg_control = control.bytes;
      message.msg_controllen = CMSG_SPACE(fds.size_bytes());
      cmsghdr* part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
    }

    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd_.get(), POLLOUT, deadline)) {
        if (sent > 0) Shutdown();
        return Fail(ErrorCode::kTimeout, "the peer did not take a frame in time");
      }
    } else if (errno != EINTR) {
      const int error = errno;
      if (sent > 0) Shutdown();
      if (PeerGone(error)) return Fail(ErrorCode::kUnavailable, "the peer is gone");
      return Fail(ErrorCode::kInternal, std::string("sendmsg: ") + std::strerror(error));
    }
  }
  return {};
}

tl::unexpected<Error> FrameSocket::Corrupt(const std::string& why) {
  Shutdown();
  header_.clear();
  partial_ = Frame{};
  return Fail(ErrorCode::kCorrupt, why);
}

Result<bool> FrameSocket::ReadSome(size_t want) {
  std::string& into = header_.size() < sizeof(Header) ? header_ : partial_.bytes;
  const size_t before = into.size();
  into.resize(before + want);
  iovec part{into.data() + before, want};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;

  const ssize_t n = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const int error = errno;
  into.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n < 0) {
    if (error == EAGAIN || error == EWOULDBLOCK || error == EINTR) return false;
    if (PeerGone(error)) return Fail(ErrorCode::kUnavailable, "the peer is gone");
    return Fail(ErrorCode::kInternal, std::string("recvmsg: ") + std::strerror(error));
  }
  TakeDescriptors(message, partial_.fds);
  if (n == 0) return Fail(ErrorCode::kUnavailable, "the peer is gone");
  if ((message.msg_flags & MSG_CTRUNC) || partial_.fds.size() > kMaxFrameDescriptors)
    return Corrupt("a frame with too many descriptors");
  return true;
}

Result<Frame> FrameSocket::Receive(Duration timeout) {
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    size_t want = sizeof(Header) - header_.size();
    if (want == 0) {
      Header header;
      std::memcpy(&header, header_.data(), sizeof header);
      if (header.magic != kMagic) return Corrupt("bytes that are no frame");
      if (header.bytes > kMaxFrameBytes)
        return Corrupt("a frame of " + std::to_string(header.bytes) + " bytes is over the limit");
      if (partial_.fds.size() > header.descriptors || header.descriptors > kMaxFrameDescriptors)
        return Corrupt("a frame with other descriptors than it says");
      if (partial_.bytes.size() == header.bytes) {
        if (partial_.fds.size() != header.descriptors)
          return Corrupt("a frame with other descriptors than it says");
        header_.clear();
        return std::exchange(partial_, Frame{});
      }
      // Memory grows with what really comes, not with what a header claims.
      want = std::min<uint64_t>(header.bytes - partial_.bytes.size(), kReadChunk);
    }
    ASSIGN_OR_RETURN(const bool progressed, ReadSome(want));
    if (!progressed && !WaitFor(fd_.get(), POLLIN, deadline))
      return Fail(ErrorCode::kTimeout, "no whole frame came in time");
  }
}

void FrameSocket::Shutdown() { ::shutdown(fd_.get(), SHUT_RDWR); }

}  // namespace warpsmith
