// Cold caches before a timed run, the same for candidates (host_runner_device) and baselines
// (host_oracle_device). Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpsmith {

class CacheFlusher {
 public:
  // Four times the cache that a core has for itself. The last level is shared with the system and
  // with the other role, and larger than what may be swept before every run: what is left warm in
  // it is the same for both sides.
  explicit CacheFlusher(int64_t private_bytes);

  // Reads and writes every line of a buffer of that size.
  void Flush();

 private:
  std::vector<uint64_t> buffer_;
};

}  // namespace warpsmith
