// Cold caches before a timed run, the same for candidates (host_runner_device) and baselines
// (host_oracle_device). Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpsmith {

class CacheFlusher {
 public:
  // The last-level cache and a quarter more, but at most kMaxFlushBytes: a sweep is paid before
  // every timed run, and past the private caches what is left warm is the same for both sides.
  static constexpr size_t kMaxFlushBytes = 16u << 20;
  explicit CacheFlusher(int64_t last_level_bytes);

  // Reads and writes every line of a buffer of that size.
  void Flush();

 private:
  std::vector<uint64_t> buffer_;
};

}  // namespace warpsmith
