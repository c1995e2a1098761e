// The oracle's half of a device: memory that it owns and lends to a runner, content, poison, and
// timing of its own work. Real: worker/cuda, worker/host. Pointers are the device's
// (torch::from_blob takes them). Thread-compatible: the oracle's one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "schema/child.h"
#include "worker/device/value_comparison.h"

namespace warpsmith {

// Where a buffer lies in its mapping.
enum class Placement {
  kEndsAtGuard,    // its last byte (rounded up to 16) is followed by an unmapped page
  kStartsAtGuard,  // its first byte follows an unmapped page
  kAligned256,     // as timed: 256-byte aligned in a mapping of its own
};

// One lent buffer. `data` is the oracle's own, writable mapping; the runner maps `fd` with
// `handle.access`. Owned by the OracleDevice that made it; fd stays open until Release.
struct OracleBuffer {
  int id = -1;
  int fd = -1;  // -1 for a buffer of size 0
  BufferHandle handle;
  void* data = nullptr;     // first byte of the buffer
  void* mapping = nullptr;  // first byte of the mapping, `handle.mapping_bytes` long
};

// A tensor's content as it is drawn (Philox: key = seed, counter = (case, tensor, index)).
struct Content {
  Dtype dtype = Dtype::kFloat32;
  int64_t elements = 0;
  int64_t last_dim = 1;  // for one-hot
  Init init;
  int64_t bound = 1;  // for kIndex
  uint64_t seed = 0;
  uint32_t case_number = 0;
  uint32_t tensor_number = 0;
};

class OracleDevice {
 public:
  virtual ~OracleDevice() = default;

  virtual const DeviceFacts& facts() const = 0;

  // kExhausted: the device's memory does not hold it.
  virtual Result<OracleBuffer> Allocate(uint64_t bytes, Access access, Placement placement) = 0;
  virtual void Release(const OracleBuffer& buffer) = 0;

  // All work below is ordered; Synchronize waits for it.
  virtual Status Fill(const OracleBuffer& buffer, const Content& content) = 0;
  // Every byte of the mapping, the buffer included, becomes a pattern derived from `pattern`:
  // values that are NaN for floating types and absurd for whole numbers.
  virtual Status Poison(const OracleBuffer& buffer, uint32_t pattern) = 0;
  virtual Status Zero(const OracleBuffer& buffer) = 0;
  // The first offset outside [offset, offset + size) of the mapping that no longer holds the
  // pattern of the last Poison, if any: somebody wrote out of bounds.
  virtual Result<std::optional<uint64_t>> FindDamage(const OracleBuffer& buffer,
                                                     uint32_t pattern) = 0;
  // A digest of the buffer's bytes, to see whether they changed.
  virtual Result<uint64_t> Digest(const OracleBuffer& buffer) = 0;
  // All elements of two floating tensors on the device, in one pass over them.
  virtual Result<ValueSums> CompareValues(const FloatingView& got, const FloatingView& expected,
                                          const ValueRule& rule) = 0;
  virtual Status Synchronize() = 0;

  // Times `run(i)` for i in [0, count) in the very form in which a runner times a plan: cold cache
  // before each, the same clock. Microseconds each.
  virtual Result<std::vector<double>> Time(size_t count,
                                           const std::function<void(size_t)>& run) = 0;
};

}  // namespace warpsmith
