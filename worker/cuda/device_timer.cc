#include "worker/cuda/device_timer.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "worker/cuda/nvrtc.h"

namespace warpsmith {

extern const char kTimingKernels[];

namespace {

constexpr size_t kMaxCommands = 480;   // enqueued behind one hold
constexpr size_t kCommandsOfOurs = 4;  // two flush kernels and two events a run
constexpr size_t kMaxRunsPerHold = 64;
constexpr unsigned kFlushThreads = 512;
constexpr CUstream kStream = nullptr;  // the legacy default stream, which libtorch uses too

// text/timing.cu's TimingRecord.
struct Clock {
  unsigned sm = 0;
  unsigned seen = 0;
  uint64_t cycles = 0;
  uint64_t nanoseconds = 0;
};
struct TimingRecord {
  Clock begin;
  Clock end;
  unsigned expired = 0;
  unsigned unused = 0;
};
static_assert(sizeof(TimingRecord) == 56);

// Cycles by time, where both ends were read on one SM and the span is long enough for the timer's
// tick.
double ClockMhz(const TimingRecord& record) {
  constexpr uint64_t kShortestNs = 50'000;
  if (record.begin.seen == 0 || record.end.seen == 0 || record.begin.sm != record.end.sm) return 0;
  if (record.end.nanoseconds < record.begin.nanoseconds + kShortestNs) return 0;
  const double mhz = 1e3 * static_cast<double>(record.end.cycles - record.begin.cycles) /
                     static_cast<double>(record.end.nanoseconds - record.begin.nanoseconds);
  return mhz > 50 && mhz < 10'000 ? mhz : 0;  // the counter was reset in between
}

}  // namespace

Result<std::unique_ptr<DeviceTimer>> DeviceTimer::Create(const Driver& driver,
                                                         const DeviceFacts& facts) {
  ASSIGN_OR_RETURN(const std::string cubin,
                   CompileOwnKernels(facts.architecture, "timing.cu", kTimingKernels));
  std::unique_ptr<DeviceTimer> timer(new DeviceTimer(driver));
  if (auto prepared = timer->Prepare(facts, cubin); !prepared)
    return tl::unexpected<Error>(ToError(prepared.error()));
  return timer;
}

CudaStatus DeviceTimer::Prepare(const DeviceFacts& facts, const std::string& cubin) {
  const char* doing = "preparing the timer";
  CUDA_TRY(driver_.cuModuleLoadData(&module_, cubin.data()), doing);
  CUDA_TRY(driver_.cuModuleGetFunction(&hold_, module_, "warpsmith_hold"), doing);
  CUDA_TRY(driver_.cuModuleGetFunction(&read_clock_, module_, "warpsmith_read_clock"), doing);
  CUDA_TRY(driver_.cuModuleGetFunction(&flush_write_, module_, "warpsmith_flush_write"), doing);
  CUDA_TRY(driver_.cuModuleGetFunction(&flush_read_, module_, "warpsmith_flush_read"), doing);
  sm_count_ = static_cast<unsigned>(std::max(1, facts.sm_count));
  const uint64_t half = 2 * std::max<uint64_t>(static_cast<uint64_t>(facts.l2_bytes), 4 << 20);
  half_words_ = half / 16;
  CUDA_TRY(driver_.cuMemAlloc(&flush_buffer_, 2 * half), "allocating the flush buffer");
  CUDA_TRY(driver_.cuMemsetD8Async(flush_buffer_, 0, 2 * half, kStream), doing);
  CUDA_TRY(driver_.cuMemAlloc(&record_, sizeof(TimingRecord)), doing);
  void* host = nullptr;
  CUDA_TRY(driver_.cuMemHostAlloc(&host, 256 + sizeof(TimingRecord), CU_MEMHOSTALLOC_DEVICEMAP),
           doing);
  std::memset(host, 0, 256 + sizeof(TimingRecord));
  released_ = static_cast<unsigned*>(host);
  host_record_ = static_cast<char*>(host) + 256;
  CUDA_TRY(driver_.cuMemHostGetDevicePointer(&released_on_device_, host, 0), doing);
  events_.resize(2 * kMaxRunsPerHold);
  for (CUevent& event : events_) CUDA_TRY(driver_.cuEventCreate(&event, CU_EVENT_DEFAULT), doing);

  // Once through everything, so that nothing is loaded or allocated in a timed sequence.
  TimedRuns warm;
  return TimePart(
      0, 2, [](size_t) { return CudaStatus(); }, warm);
}

DeviceTimer::~DeviceTimer() {
  for (CUevent event : events_)
    if (event != nullptr) driver_.cuEventDestroy(event);
  if (released_ != nullptr) driver_.cuMemFreeHost(const_cast<unsigned*>(released_));
  if (record_ != 0) driver_.cuMemFree(record_);
  if (flush_buffer_ != 0) driver_.cuMemFree(flush_buffer_);
  if (module_ != nullptr) driver_.cuModuleUnload(module_);
}

CudaStatus DeviceTimer::Flush() {
  CUdeviceptr write_half = flush_buffer_, read_half = flush_buffer_ + half_words_ * 16;
  unsigned long long words = half_words_;
  unsigned value = ticket_;
  CUdeviceptr sink = flush_buffer_;
  void* write_arguments[] = {&write_half, &words, &value};
  void* read_arguments[] = {&read_half, &words, &sink};
  CUDA_TRY(driver_.cuLaunchKernel(flush_write_, 4 * sm_count_, 1, 1, kFlushThreads, 1, 1, 0,
                                  kStream, write_arguments, nullptr),
           "flushing L2");
  CUDA_TRY(driver_.cuLaunchKernel(flush_read_, 4 * sm_count_, 1, 1, kFlushThreads, 1, 1, 0, kStream,
                                  read_arguments, nullptr),
           "flushing L2");
  return {};
}

CudaResult<TimedRuns> DeviceTimer::Time(size_t count, size_t commands_each,
                                        const std::function<CudaStatus(size_t)>& enqueue) {
  CUDA_TRY(driver_.cuCtxSynchronize(), "waiting before a timing");
  CUDA_TRY(driver_.cuCtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  const size_t part =
      std::clamp<size_t>(kMaxCommands / (commands_each + kCommandsOfOurs), 1, kMaxRunsPerHold);
  TimedRuns runs;
  double clock_sum = 0;
  size_t clocks = 0;
  for (size_t first = 0; first < count; first += part) {
    runs.sm_clock_mhz = 0;
    CUDA_RETURN_IF_FAILED(TimePart(first, std::min(count, first + part), enqueue, runs));
    if (runs.sm_clock_mhz > 0) {
      clock_sum += runs.sm_clock_mhz;
      ++clocks;
    }
  }
  runs.sm_clock_mhz = clocks > 0 ? clock_sum / static_cast<double>(clocks) : 0;
  return runs;
}

CudaStatus DeviceTimer::TimePart(size_t first, size_t last,
                                 const std::function<CudaStatus(size_t)>& enqueue,
                                 TimedRuns& runs) {
  ++ticket_;
  CUDA_TRY(driver_.cuMemsetD8Async(record_, 0, sizeof(TimingRecord), kStream), "starting a timing");
  unsigned long long limit = kHoldLimitNs;
  void* hold_arguments[] = {&released_on_device_, &ticket_, &limit, &record_};
  CUDA_TRY(driver_.cuLaunchKernel(hold_, 1, 1, 1, 1, 1, 1, 0, kStream, hold_arguments, nullptr),
           "starting a timing");
  const CudaStatus enqueued = EnqueuePart(first, last, enqueue);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *released_ = ticket_;  // also when the enqueueing failed: nothing may wait for ever
  CUDA_RETURN_IF_FAILED(enqueued);
  CUDA_TRY(driver_.cuStreamSynchronize(kStream), "running");

  const auto* record = static_cast<const TimingRecord*>(host_record_);
  runs.held = runs.held && record->expired == 0;
  runs.sm_clock_mhz = ClockMhz(*record);
  for (size_t i = 0; i < last - first; ++i) {
    float ms = 0;
    CUDA_TRY(driver_.cuEventElapsedTime(&ms, events_[2 * i], events_[2 * i + 1]), "reading a time");
    runs.run_us.push_back(1e3 * static_cast<double>(ms));
  }
  return {};
}

CudaStatus DeviceTimer::EnqueuePart(size_t first, size_t last,
                                    const std::function<CudaStatus(size_t)>& enqueue) {
  for (size_t i = first; i < last; ++i) {
    CUDA_RETURN_IF_FAILED(Flush());
    CUDA_TRY(driver_.cuEventRecord(events_[2 * (i - first)], kStream), "timing a run");
    CUDA_RETURN_IF_FAILED(enqueue(i));
    CUDA_TRY(driver_.cuEventRecord(events_[2 * (i - first) + 1], kStream), "timing a run");
  }
  void* arguments[] = {&record_};
  CUDA_TRY(driver_.cuLaunchKernel(read_clock_, 8 * sm_count_, 1, 1, 32, 1, 1, 0, kStream, arguments,
                                  nullptr),
           "reading the clock");
  CUDA_TRY(driver_.cuMemcpyDtoHAsync(host_record_, record_, sizeof(TimingRecord), kStream),
           "reading the clock");
  return {};
}

}  // namespace warpsmith
