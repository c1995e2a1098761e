// Frames with file descriptors over a Unix socketpair: how a supervisor talks to its children, and
// an oracle to its runner. A frame is our header (magic, length) and then the bytes; the header is
// checked before anything else. One thread sends and one receives at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace warpsmith {

constexpr uint64_t kMaxFrameBytes = 256ull << 20;
constexpr size_t kMaxFrameDescriptors = 64;

struct Frame {
  std::string bytes;
  std::vector<UniqueFd> fds;
};

class FrameSocket {
 public:
  FrameSocket() = default;
  explicit FrameSocket(UniqueFd fd) : fd_(std::move(fd)) {}

  // A connected pair, close-on-exec.
  static Result<std::pair<FrameSocket, FrameSocket>> MakePair();

  // Descriptors are duplicated into the receiver; the caller keeps its own. kInvalidInput: beyond
  // the limits above, nothing was sent. kTimeout; when part of the frame was out already the socket
  // is shut down, and later calls say kUnavailable, as they do when the peer is gone.
  Status Send(std::span<const char> bytes, std::span<const int> fds, Duration timeout);

  // kTimeout: nothing whole came yet, and what came of a frame is kept for the next call, so that a
  // short wait never tears a long frame; a peer that stalls in the middle is the caller's deadline
  // to judge. kUnavailable: the peer is gone. kCorrupt: a bad header, too much, or the wrong number
  // of descriptors; the socket is shut down.
  Result<Frame> Receive(Duration timeout);

  // Makes a Receive in another thread return kUnavailable.
  void Shutdown();

  int fd() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }
  UniqueFd Release() { return std::move(fd_); }

 private:
  // Takes what the socket has now, at most `want` bytes. False: nothing now.
  Result<bool> ReadSome(size_t want);
  tl::unexpected<Error> Corrupt(const std::string& why);

  UniqueFd fd_;
  // The frame on its way in: its header, then its bytes, and the descriptors that came so far.
  std::string header_;
  Frame partial_;
};

}  // namespace warpsmith
