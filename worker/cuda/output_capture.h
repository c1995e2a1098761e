// Catches what device code prints: the driver writes printf's and assert's text to this process's
// standard output and error when it waits for the device.
#pragma once

#include <string>

#include "common/base/result.h"

namespace warpsmith {

// While an object of this kind lives, descriptors 1 and 2 of the process lead into memory of fixed
// size; what does not fit is dropped. One at a time a process.
class OutputCapture {
 public:
  static constexpr size_t kCapBytes = 64 * 1024;

  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // Gives the descriptors back and returns the text, with a mark when it reached the cap.
  std::string Finish();

 private:
  int memory_ = -1;
  int saved_out_ = -1, saved_error_ = -1;
};

}  // namespace warpsmith
