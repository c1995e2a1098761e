// Frames with file descriptors over a Unix socketpair: how a supervisor talks to its children, and an
// oracle to its runner. A frame is our header (magic, length) and then the bytes; the header is checked
// before anything else. One thread sends and one receives at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace warpsmith {

constexpr uint64_t kMaxFrameBytes = 256ull << 20;
constexpr size_t kMaxFrameDescriptors = 64;

// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset();

 private:
  int fd_ = -1;
};

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

  // Descriptors are duplicated into the receiver; the caller keeps its own. kTimeout, or kUnavailable
  // when the peer is gone.
  Status Send(std::span<const char> bytes, std::span<const int> fds, Duration timeout);

  // kTimeout: nothing whole came; kUnavailable: the peer is gone; kCorrupt: a bad header or too much.
  // After kCorrupt or a timeout in the middle of a frame the socket must be dropped.
  Result<Frame> Receive(Duration timeout);

  // Makes a Receive in another thread return kUnavailable.
  void Shutdown();

  int fd() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }
  UniqueFd Release() { return std::move(fd_); }

 private:
  UniqueFd fd_;
};

}  // namespace warpsmith
