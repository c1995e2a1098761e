#include "worker/cuda/output_capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace warpsmith {
namespace {

// Descriptor `target` becomes a copy of `source`; the old one is returned, or -1.
int Redirect(int source, int target) {
  const int old = fcntl(target, F_DUPFD_CLOEXEC, 3);
  dup2(source, target);
  return old;
}

void Restore(int old, int target) {
  if (old < 0) {
    close(target);
    return;
  }
  dup2(old, target);
  close(old);
}

}  // namespace

OutputCapture::OutputCapture() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  saved_out_ = Redirect(ends[1], 1);
  saved_error_ = Redirect(ends[1], 2);
  close(ends[1]);
  reader_ = std::jthread([this, from = ends[0]] { Drain(from); });
}

OutputCapture::~OutputCapture() { Finish(); }

void OutputCapture::Drain(int from) {
  std::array<char, 16 * 1024> chunk;
  for (;;) {
    const ssize_t got = read(from, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const size_t room = kCapBytes - text_.size();
    cut_ = cut_ || static_cast<size_t>(got) > room;
    text_.append(chunk.data(), std::min(static_cast<size_t>(got), room));
  }
  close(from);
}

std::string OutputCapture::Finish() {
  if (!reader_.joinable()) return "";
  std::fflush(stdout);
  std::fflush(stderr);
  Restore(saved_out_, 1);  // closes the pipe's last writing ends: the reader comes to its end
  Restore(saved_error_, 2);
  reader_.join();
  if (cut_) text_ += "\n... (output cut)\n";
  return std::exchange(text_, "");
}

}  // namespace warpsmith
