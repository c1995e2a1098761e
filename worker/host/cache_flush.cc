#include "worker/host/cache_flush.h"

#include <algorithm>

namespace warpsmith {

CacheFlusher::CacheFlusher(int64_t last_level_bytes)
    : buffer_(
          std::clamp<size_t>(static_cast<size_t>(std::max<int64_t>(last_level_bytes, 0)) / 4 * 5,
                             4u << 20, kMaxFlushBytes) /
          sizeof(uint64_t)) {}

void CacheFlusher::Flush() {
  constexpr size_t kLine = 64 / sizeof(uint64_t);
  volatile uint64_t* words = buffer_.data();
  for (size_t i = 0; i < buffer_.size(); i += kLine) words[i] = words[i] + 1;
}

}  // namespace warpsmith
