// How runs are timed on a CUDA device, one form for candidates (runner) and baselines (oracle): a
// hold kernel keeps the stream waiting while everything is enqueued; then, for each run, a flush of
// L2, an event, the run, an event. So no host delay falls between two events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schema/device.h"
#include "worker/cuda/driver.h"

namespace warpsmith {

struct TimedRuns {
  std::vector<double> run_us;  // one each
  double sm_clock_mhz = 0;     // mean over the timed sequence, seen on one SM; 0: unknown
  bool held = true;  // false: the host was slower than the hold's limit, the times mean nothing
};

// Belongs to the thread whose current context it was made in; destroyed in the same.
class DeviceTimer {
 public:
  // Compiles its kernels for the device and takes its memory (four times the L2).
  static Result<std::unique_ptr<DeviceTimer>> Create(const Driver& driver,
                                                     const DeviceFacts& facts);
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  // Times enqueue(i), i in [0, count): each puts about `commands_each` commands into the legacy
  // default stream and does not wait. Sequences longer than what a stream queues well are cut into
  // parts, each behind a hold of its own. Blocks until all has run.
  CudaResult<TimedRuns> Time(size_t count, size_t commands_each,
                             const std::function<CudaStatus(size_t)>& enqueue);

  // The hold's limit on the device, from its start.
  static constexpr uint64_t kHoldLimitNs = 50'000'000;

 private:
  explicit DeviceTimer(const Driver& driver) : driver_(driver) {}

  CudaStatus Prepare(const DeviceFacts& facts, const std::string& cubin);
  CudaStatus Flush();
  // Runs [first, last) behind one hold.
  CudaStatus TimePart(size_t first, size_t last, const std::function<CudaStatus(size_t)>& enqueue,
                      TimedRuns& runs);
  CudaStatus EnqueuePart(size_t first, size_t last,
                         const std::function<CudaStatus(size_t)>& enqueue);

  const Driver& driver_;
  CUmodule module_ = nullptr;
  CUfunction hold_ = nullptr, read_clock_ = nullptr, flush_write_ = nullptr, flush_read_ = nullptr;
  unsigned sm_count_ = 1;
  uint64_t half_words_ = 0;  // 16-byte words in one half of the flush buffer
  CUdeviceptr flush_buffer_ = 0, record_ = 0;
  volatile unsigned* released_ = nullptr;  // host memory that the hold reads
  void* host_record_ = nullptr;
  CUdeviceptr released_on_device_ = 0;
  unsigned ticket_ = 0;
  std::vector<CUevent> events_;
};

}  // namespace warpsmith
