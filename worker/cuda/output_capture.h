// Catches what device code prints: the driver writes printf's and assert's text to this process's
// standard output and error when it waits for the device.
#pragma once

#include <string>
#include <thread>

namespace warpsmith {

// While an object of this kind lives, descriptors 1 and 2 of the process lead into a pipe that a
// thread of its own empties; what is beyond the cap is dropped, so that a flood neither blocks nor
// fills memory. One at a time a process.
class OutputCapture {
 public:
  static constexpr size_t kCapBytes = 64 * 1024;

  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // Gives the descriptors back and returns the text, with a mark where it was cut.
  std::string Finish();

 private:
  void Drain(int from);

  int saved_out_ = -1, saved_error_ = -1;
  std::string text_;  // the reader's until it is joined
  bool cut_ = false;
  std::jthread reader_;
};

}  // namespace warpsmith
