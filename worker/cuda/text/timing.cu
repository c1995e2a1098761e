// Device code of worker/cuda/device_timer.h.

struct Clock {
  unsigned int sm;
  unsigned int seen;  // 1 once written
  unsigned long long cycles;
  unsigned long long nanoseconds;
};

struct TimingRecord {
  Clock begin;
  Clock end;
  unsigned int expired;  // the host released the hold too late
  unsigned int unused;
};

__device__ unsigned long long GlobalTimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ unsigned int SmId() {
  unsigned int sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// Keeps the stream waiting until the host writes `ticket` (or a later one) or the limit passes.
extern "C" __global__ void warpsmith_hold(const volatile unsigned int* released,
                                          unsigned int ticket, unsigned long long limit_ns,
                                          TimingRecord* record) {
  const unsigned long long start = GlobalTimer();
  while (static_cast<int>(*released - ticket) < 0) {
    if (GlobalTimer() - start > limit_ns) {
      record->expired = 1;
      break;
    }
  }
  record->begin = {SmId(), 1, static_cast<unsigned long long>(clock64()), GlobalTimer()};
}

// Enough blocks that one runs on the SM of the hold, whose cycle counter it reads again.
extern "C" __global__ void warpsmith_read_clock(TimingRecord* record) {
  if (threadIdx.x != 0 || SmId() != record->begin.sm) return;
  if (atomicCAS(&record->end.seen, 0u, 1u) != 0u) return;
  record->end.sm = SmId();
  record->end.cycles = clock64();
  record->end.nanoseconds = GlobalTimer();
}

// The flush: writes one half of a buffer, so that nothing of before is left in L2, then reads the
// other, so that what is left in L2 is clean and no write-back falls into the timed part.
extern "C" __global__ void warpsmith_flush_write(uint4* data, unsigned long long count,
                                                 unsigned int value) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < count; i += stride)
    data[i] = make_uint4(value, value, value, value);
}

extern "C" __global__ void warpsmith_flush_read(const uint4* data, unsigned long long count,
                                                unsigned int* sink) {
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned int seen = 0;
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < count; i += stride) {
    const uint4 word = __ldcg(data + i);
    seen |= word.x ^ word.y ^ word.z ^ word.w;
  }
  if (seen == 0xFFFFFFFFu) *sink = seen;  // never: the words of a buffer are equal
}
