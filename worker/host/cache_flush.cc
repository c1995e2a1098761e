#include "worker/host/cache_flush.h"

#include <algorithm>

namespace warpsmith {
namespace {

constexpr int64_t kLeastBytes = 4 << 20;  // also where the size is unknown
constexpr int64_t kMostBytes = 16 << 20;

}  // namespace

CacheFlusher::CacheFlusher(int64_t private_bytes)
    : buffer_(static_cast<size_t>(std::clamp(4 * private_bytes, kLeastBytes, kMostBytes)) /
              sizeof(uint64_t)) {}

void CacheFlusher::Flush() {
  constexpr size_t kLine = 64 / sizeof(uint64_t);
  volatile uint64_t* words = buffer_.data();
  for (size_t i = 0; i < buffer_.size(); i += kLine) words[i] = words[i] + 1;
}

}  // namespace warpsmith
