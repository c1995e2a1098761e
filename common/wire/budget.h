// How much memory one message may become. A list of empty elements costs a peer a few bytes and a
// reader a struct each, so whoever reads a message charges what it makes to one budget.
#pragma once

#include <cstddef>
#include <stdexcept>

namespace warpsmith {

// Thrown while a message is read, caught where it was decoded.
struct CorruptMessage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Budget {
 public:
  static constexpr size_t kPerByte = 8;  // our largest records stay below it when all is empty

  explicit Budget(size_t message_bytes) : left_(message_bytes * kPerByte) {}

  void Take(size_t bytes) {
    if (bytes > left_) throw CorruptMessage("it would take more than 8 times its size of memory");
    left_ -= bytes;
  }

 private:
  size_t left_;
};

}  // namespace warpsmith
