#include "worker/cuda/output_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace warpsmith {

OutputCapture::OutputCapture() {
  memory_ = memfd_create("candidate output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0) return;
  // A fixed size: a write beyond it fails, however wide a candidate's format makes a number.
  if (ftruncate(memory_, kCapBytes) != 0 ||
      fcntl(memory_, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0) {
    close(memory_);
    memory_ = -1;
    return;
  }
  std::fflush(stdout);
  std::fflush(stderr);
  saved_out_ = fcntl(1, F_DUPFD_CLOEXEC, 3);
  saved_error_ = fcntl(2, F_DUPFD_CLOEXEC, 3);
  dup2(memory_, 1);
  dup2(memory_, 2);
}

OutputCapture::~OutputCapture() { Finish(); }

std::string OutputCapture::Finish() {
  if (memory_ < 0) return "";
  std::fflush(stdout);
  std::fflush(stderr);
  std::clearerr(stdout);
  if (saved_out_ >= 0) {
    dup2(saved_out_, 1);
    close(saved_out_);
  } else {
    close(1);
  }
  if (saved_error_ >= 0) {
    dup2(saved_error_, 2);
    close(saved_error_);
  } else {
    close(2);
  }
  const off_t written = lseek(memory_, 0, SEEK_CUR);
  std::string text(written > 0 ? static_cast<size_t>(written) : 0, '\0');
  const ssize_t got = text.empty() ? 0 : pread(memory_, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (text.size() >= kCapBytes - 4096) text += "\n... (output cut)\n";
  close(memory_);
  memory_ = -1;
  return text;
}

}  // namespace warpsmith
