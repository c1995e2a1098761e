// Threads of a block as fibers of one OS thread. A fiber runs the block's threads one after
// another; when a thread must wait for others, its fiber is parked with it and another fiber goes
// on. So a kernel pays for switches only where it waits.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "worker/host/runtime/fault.h"
#include "worker/host/runtime/primitives.h"
#include "worker/host/runtime/protocol.h"

// Saves the callee-saved registers and the stack pointer at *save, and goes on from `load`.
extern "C" void warpsmith_switch(void** save, void* load);
__asm__(
    ".text\n.globl warpsmith_switch\n.type warpsmith_switch, @function\nwarpsmith_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
    ".size warpsmith_switch, . - warpsmith_switch\n");

namespace warpsmith::host {
namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr size_t kStackGuardBytes = 64 * 1024;
constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kMaxWarps = kMaxHostThreads / kWarpSize;
// What a lane reads that takes no part: not a number, and no sensible index.
constexpr uint64_t kUndefined = 0x7fffdead7fffdead;

struct Fiber {
  void* stack_pointer = nullptr;
  Fiber* next_free = nullptr;
};

enum class Status : uint8_t { kActive, kAtBarrier, kInWarp, kAtActiveMask, kExited };

struct Thread {
  Fiber* fiber = nullptr;
  Status status = Status::kActive;
  uint32_t kind = 0;  // BarrierKind or WarpKind
  uint32_t mask = 0;
  const void* site = nullptr;
  uint32_t at[3] = {};
};

struct Lane {
  uint64_t value;
  uint64_t result;
  uint32_t a;
  uint32_t b;
};

// Lanes that wait for one another: same operation, same mask.
struct Meeting {
  WarpKind kind;
  uint32_t mask;
  uint32_t arrived;
};

struct Warp {
  uint32_t live = 0;  // lanes that exist and have not exited
  uint32_t meeting_count = 0;
  Meeting meetings[kWarpSize];
  Lane lanes[kWarpSize];
};

const char* Name(BarrierKind kind) {
  switch (kind) {
    case BarrierKind::kPlain: return "__syncthreads()";
    case BarrierKind::kCount: return "__syncthreads_count()";
    case BarrierKind::kAnd: return "__syncthreads_and()";
    case BarrierKind::kOr: return "__syncthreads_or()";
  }
  return "a barrier";
}

const char* Name(WarpKind kind) {
  constexpr const char* kNames[] = {
      "__syncwarp",        "__activemask",      "__shfl_sync",       "__shfl_up_sync",
      "__shfl_down_sync",  "__shfl_xor_sync",   "__ballot_sync",     "__any_sync",
      "__all_sync",        "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync",
      "__reduce_min_sync", "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",
      "__reduce_and_sync", "__reduce_or_sync",  "__reduce_xor_sync"};
  const auto index = static_cast<uint32_t>(kind);
  return index < sizeof(kNames) / sizeof(kNames[0]) ? kNames[index] : "a warp operation";
}

// The lane that `lane` reads from, or -1 for its own value.
int SourceLane(WarpKind kind, uint32_t lane, uint32_t a, uint32_t width) {
  const uint32_t first = lane & ~(width - 1), last = first + width - 1;
  switch (kind) {
    case WarpKind::kShfl: return static_cast<int>(first | (a & (width - 1)));
    case WarpKind::kShflUp: return lane >= first + a ? static_cast<int>(lane - a) : -1;
    case WarpKind::kShflDown: return a <= last - lane ? static_cast<int>(lane + a) : -1;
    default: return (lane ^ a) <= last ? static_cast<int>(lane ^ a) : -1;
  }
}

uint64_t Combine(WarpKind kind, uint64_t x, uint64_t y) {
  const auto a = static_cast<uint32_t>(x), b = static_cast<uint32_t>(y);
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (kind) {
    case WarpKind::kAdd: return a + b;
    case WarpKind::kMin: return sa < sb ? a : b;
    case WarpKind::kMax: return sa > sb ? a : b;
    case WarpKind::kMinUnsigned: return a < b ? a : b;
    case WarpKind::kMaxUnsigned: return a > b ? a : b;
    case WarpKind::kAnd: return a & b;
    case WarpKind::kOr: return a | b;
    default: return a ^ b;
  }
}

// Every arrived lane's result, once all have come.
void Resolve(Warp& warp, const Meeting& meeting) {
  const uint32_t arrived = meeting.arrived;
  uint32_t votes = 0;
  uint64_t total = 0;
  bool first = true;
  for (uint32_t left = arrived; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    if (warp.lanes[lane].value != 0) votes |= 1u << lane;
    total = first ? warp.lanes[lane].value : Combine(meeting.kind, total, warp.lanes[lane].value);
    first = false;
  }
  for (uint32_t left = arrived; left != 0; left &= left - 1) {
    const auto index = static_cast<uint32_t>(__builtin_ctz(left));
    Lane& lane = warp.lanes[index];
    switch (meeting.kind) {
      case WarpKind::kSync:
      case WarpKind::kActiveMask: lane.result = arrived; break;
      case WarpKind::kShfl:
      case WarpKind::kShflUp:
      case WarpKind::kShflDown:
      case WarpKind::kShflXor: {
        const int from = SourceLane(meeting.kind, index, lane.a, lane.b);
        lane.result = from < 0              ? lane.value
                      : arrived >> from & 1 ? warp.lanes[from].value
                                            : kUndefined;
        break;
      }
      case WarpKind::kBallot: lane.result = votes; break;
      case WarpKind::kAny: lane.result = votes != 0; break;
      case WarpKind::kAll: lane.result = votes == arrived; break;
      case WarpKind::kMatchAny:
      case WarpKind::kMatchAll: {
        uint32_t same = 0;
        for (uint32_t other = arrived; other != 0; other &= other - 1) {
          const auto at = static_cast<uint32_t>(__builtin_ctz(other));
          if (warp.lanes[at].value == lane.value) same |= 1u << at;
        }
        lane.result = meeting.kind == WarpKind::kMatchAny ? same : same == arrived ? arrived : 0;
        break;
      }
      default: lane.result = total; break;
    }
  }
}

// One worker's block. All state of a block is here; fibers and their stacks are kept for the next.
class Block {
 public:
  void Run(const warpsmith_kernel* kernel, void* const* arguments, const unsigned int* size,
           bool reversed);
  unsigned int Barrier(BarrierKind kind, bool predicate, const void* site);
  uint64_t WarpOperation(WarpKind kind, uint32_t mask, uint64_t value, uint32_t a, uint32_t b,
                         const void* site);

 private:
  static void FiberMain();
  void RunThreads();
  Fiber* TakeFiber();
  Fiber* PickNext();
  void SwitchFrom(Fiber* fiber, Fiber* next);
  void Park(Status status, uint32_t kind, uint32_t mask, const void* site);
  void MakeReady(uint32_t thread);
  void ReleaseBarrier();
  void EndMeeting(uint32_t warp, Meeting* meeting, int running_lane);
  void Exit(uint32_t thread);
  bool ResolveActiveMask();
  [[noreturn]] void ReportDivergence();

  const warpsmith_kernel* kernel_ = nullptr;
  void* const* arguments_ = nullptr;
  bool reversed_ = false;
  uint32_t size_[3] = {};
  uint32_t count_ = 0;
  uint32_t started_ = 0;
  uint32_t exited_ = 0;
  uint32_t running_ = 0;

  uint32_t arrived_ = 0;
  uint32_t votes_ = 0;             // of those that arrived
  uint32_t released_arrived_ = 0;  // of the barrier that opened last
  uint32_t released_votes_ = 0;

  uint32_t ready_[kMaxHostThreads];
  uint32_t ready_head_ = 0;
  uint32_t ready_count_ = 0;

  Fiber scheduler_;
  Fiber* current_ = nullptr;
  Fiber* free_ = nullptr;
  Fiber fibers_[kMaxHostThreads];
  uint32_t fiber_count_ = 0;
  char* stacks_ = nullptr;

  Thread threads_[kMaxHostThreads];
  Warp warps_[kMaxWarps];
};

thread_local Block* block = nullptr;

void Block::Run(const warpsmith_kernel* kernel, void* const* arguments, const unsigned int* size,
                bool reversed) {
  if (memcmp(size_, size, sizeof(size_)) != 0) {
    memcpy(size_, size, sizeof(size_));
    count_ = size[0] * size[1] * size[2];
    for (uint32_t i = 0; i < count_; ++i) {
      threads_[i].at[0] = i % size[0];
      threads_[i].at[1] = i / size[0] % size[1];
      threads_[i].at[2] = i / size[0] / size[1];
    }
  }
  kernel_ = kernel;
  arguments_ = arguments;
  reversed_ = reversed;
  started_ = exited_ = arrived_ = votes_ = 0;
  for (uint32_t first = 0; first < count_; first += kWarpSize) {
    const uint32_t lanes = count_ - first;
    warps_[first / kWarpSize].live = lanes >= kWarpSize ? ~0u : (1u << lanes) - 1;
    warps_[first / kWarpSize].meeting_count = 0;
  }
  current_ = &scheduler_;
  SwitchFrom(&scheduler_, PickNext());
}

void Block::FiberMain() {
  block->RunThreads();
  __builtin_unreachable();
}

// A fiber's life: run threads while none is ready to go on, lie free, be taken again.
void Block::RunThreads() {
  for (;;) {
    while (started_ < count_ && ready_count_ == 0) {
      const uint32_t thread = reversed_ ? count_ - 1 - started_ : started_;
      ++started_;
      running_ = thread;
      Thread& t = threads_[thread];
      t.status = Status::kActive;
      warpsmith_set_thread(t.at[0], t.at[1], t.at[2]);
      kernel_->thread(arguments_);
      Exit(running_);
    }
    Fiber* me = current_;
    me->next_free = free_;
    free_ = me;
    Fiber* next = PickNext();
    if (next != me) SwitchFrom(me, next);
  }
}

void Block::SwitchFrom(Fiber* fiber, Fiber* next) {
  current_ = next;
  warpsmith_switch(&fiber->stack_pointer, next->stack_pointer);
}

Fiber* Block::TakeFiber() {
  if (free_ != nullptr) {
    Fiber* fiber = free_;
    free_ = fiber->next_free;
    return fiber;
  }
  constexpr size_t kStride = kStackBytes + kStackGuardBytes;
  if (stacks_ == nullptr) {
    void* stacks = mmap(nullptr, kStride * kMaxHostThreads, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) Die(FaultKind::kProtocol, "no address space for fiber stacks");
    stacks_ = static_cast<char*>(stacks);
  }
  const uint32_t index = fiber_count_++;
  char* stack = stacks_ + index * kStride + kStackGuardBytes;
  if (mprotect(stack, kStackBytes, PROT_READ | PROT_WRITE) != 0)
    Die(FaultKind::kProtocol, "no memory for a fiber's stack");
  // Staggered, or the tops of all stacks would share a few cache sets.
  char* top = stack + kStackBytes - index % 32 * 128;
  auto* words = reinterpret_cast<void**>(top);
  words[-2] = reinterpret_cast<void*>(&Block::FiberMain);
  fibers_[index].stack_pointer = words - 8;  // six registers below the return address
  return &fibers_[index];
}

Fiber* Block::PickNext() {
  for (;;) {
    if (ready_count_ > 0) {
      running_ = ready_[ready_head_];
      ready_head_ = (ready_head_ + 1) % kMaxHostThreads;
      --ready_count_;
      Thread& t = threads_[running_];
      t.status = Status::kActive;
      warpsmith_set_thread(t.at[0], t.at[1], t.at[2]);
      return t.fiber;
    }
    if (started_ < count_) return TakeFiber();
    if (exited_ == count_) return &scheduler_;
    if (!ResolveActiveMask()) ReportDivergence();
  }
}

void Block::Park(Status status, uint32_t kind, uint32_t mask, const void* site) {
  Thread& t = threads_[running_];
  t.status = status;
  t.kind = kind;
  t.mask = mask;
  t.site = site;
  t.fiber = current_;
  Fiber* next = PickNext();
  if (next != t.fiber) SwitchFrom(t.fiber, next);
}

void Block::MakeReady(uint32_t thread) {
  ready_[(ready_head_ + ready_count_) % kMaxHostThreads] = thread;
  ++ready_count_;
}

void Block::ReleaseBarrier() {
  released_arrived_ = arrived_;
  released_votes_ = votes_;
  arrived_ = votes_ = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    const uint32_t thread = reversed_ ? count_ - 1 - i : i;
    if (threads_[thread].status == Status::kAtBarrier && thread != running_) MakeReady(thread);
  }
}

unsigned int Block::Barrier(BarrierKind kind, bool predicate, const void* site) {
  ++arrived_;
  votes_ += predicate;
  if (arrived_ + exited_ == count_)
    ReleaseBarrier();
  else
    Park(Status::kAtBarrier, static_cast<uint32_t>(kind), 0, site);
  switch (kind) {
    case BarrierKind::kPlain: return 0;
    case BarrierKind::kCount: return released_votes_;
    case BarrierKind::kAnd: return released_votes_ == released_arrived_;
    case BarrierKind::kOr: return released_votes_ != 0;
  }
  return 0;
}

void Block::EndMeeting(uint32_t warp, Meeting* meeting, int running_lane) {
  Resolve(warps_[warp], *meeting);
  for (uint32_t left = meeting->arrived; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (lane != running_lane) MakeReady(warp * kWarpSize + static_cast<uint32_t>(lane));
  }
  *meeting = warps_[warp].meetings[--warps_[warp].meeting_count];
}

uint64_t Block::WarpOperation(WarpKind kind, uint32_t mask, uint64_t value, uint32_t a, uint32_t b,
                              const void* site) {
  const uint32_t thread = running_, index = thread % kWarpSize;
  Warp& warp = warps_[thread / kWarpSize];
  Lane& lane = warp.lanes[index];
  lane.value = value;
  lane.a = a;
  lane.b = b;
  if (kind == WarpKind::kActiveMask) {
    Park(Status::kAtActiveMask, static_cast<uint32_t>(kind), 0, site);
    return lane.result;
  }
  if ((mask >> index & 1) == 0) {
    char text[160];
    snprintf(text, sizeof(text), "lane %u calls %s with mask=0x%08x, which does not name it", index,
             Name(kind), mask);
    Die(FaultKind::kDivergence, text);
  }
  Meeting* meeting = warp.meetings;
  Meeting* end = warp.meetings + warp.meeting_count;
  while (meeting != end && (meeting->kind != kind || meeting->mask != mask)) ++meeting;
  if (meeting == end) {
    ++warp.meeting_count;
    *meeting = Meeting{kind, mask, 0};
  }
  meeting->arrived |= 1u << index;
  if (meeting->arrived == (mask & warp.live))
    EndMeeting(thread / kWarpSize, meeting, static_cast<int>(index));
  else
    Park(Status::kInWarp, static_cast<uint32_t>(kind), mask, site);
  return lane.result;
}

// A thread that has returned counts as arrived wherever others wait for it, as on a GPU.
void Block::Exit(uint32_t thread) {
  threads_[thread].status = Status::kExited;
  ++exited_;
  Warp& warp = warps_[thread / kWarpSize];
  warp.live &= ~(1u << thread % kWarpSize);
  for (uint32_t i = warp.meeting_count; i-- > 0;)
    if (warp.meetings[i].arrived == (warp.meetings[i].mask & warp.live))
      EndMeeting(thread / kWarpSize, &warp.meetings[i], -1);
  if (arrived_ > 0 && arrived_ + exited_ == count_) ReleaseBarrier();
}

// Nothing else can run: the lanes of a warp that wait at the same __activemask are the active ones.
bool Block::ResolveActiveMask() {
  for (uint32_t i = 0; i < count_; ++i) {
    if (threads_[i].status != Status::kAtActiveMask) continue;
    const uint32_t warp = i / kWarpSize;
    Meeting meeting{WarpKind::kActiveMask, ~0u, 0};
    for (uint32_t other = i; other < count_ && other / kWarpSize == warp; ++other)
      if (threads_[other].status == Status::kAtActiveMask &&
          threads_[other].site == threads_[i].site)
        meeting.arrived |= 1u << other % kWarpSize;
    Resolve(warps_[warp], meeting);
    for (uint32_t left = meeting.arrived; left != 0; left &= left - 1) {
      const uint32_t other = warp * kWarpSize + static_cast<uint32_t>(__builtin_ctz(left));
      threads_[other].status = Status::kActive;
      MakeReady(other);
    }
    return true;
  }
  return false;
}

void Block::ReportDivergence() {
  char text[sizeof(Fault::text)];
  int used = 0;
  bool told[kMaxHostThreads] = {};
  const char* separator = "";
  for (uint32_t i = 0; i < count_; ++i) {
    const Thread& t = threads_[i];
    if (told[i] || t.status == Status::kExited) continue;
    uint32_t alike = 0;
    for (uint32_t j = i; j < count_; ++j) {
      const Thread& other = threads_[j];
      if (other.status != t.status || other.kind != t.kind || other.mask != t.mask ||
          other.site != t.site)
        continue;
      told[j] = true;
      ++alike;
    }
    const int room = static_cast<int>(sizeof(text)) - used;
    char where[64] = "";
    if (t.status == Status::kAtBarrier)
      snprintf(where, sizeof(where), "%s", Name(static_cast<BarrierKind>(t.kind)));
    else
      snprintf(where, sizeof(where), "%s(mask=0x%08x)", Name(static_cast<WarpKind>(t.kind)),
               t.mask);
    const int wrote = snprintf(text + used, static_cast<size_t>(room),
                               "%s%u threads wait at %s, first is (%u,%u,%u)", separator, alike,
                               where, t.at[0], t.at[1], t.at[2]);
    if (wrote >= room) break;
    used += wrote;
    separator = "; ";
  }
  Die(FaultKind::kDivergence, text);
}

}  // namespace
}  // namespace warpsmith::host

using warpsmith::host::BarrierKind;
using warpsmith::host::Block;
using warpsmith::host::block;
using warpsmith::host::Die;
using warpsmith::host::FaultKind;
using warpsmith::host::WarpKind;

void warpsmith_run_with_fibers(const warpsmith_kernel* kernel, void* const* arguments,
                               const unsigned int* size, bool reversed) {
  if (block == nullptr) {
    void* memory =
        mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) Die(FaultKind::kProtocol, "no memory for a block's state");
    block = new (memory) Block();
  }
  block->Run(kernel, arguments, size, reversed);
}

unsigned int warpsmith_barrier(unsigned int kind, unsigned int predicate) {
  return block->Barrier(static_cast<BarrierKind>(kind), predicate != 0,
                        __builtin_return_address(0));
}

unsigned long warpsmith_warp(unsigned int kind, unsigned int mask, unsigned long value,
                             unsigned int a, unsigned int b) {
  return block->WarpOperation(static_cast<WarpKind>(kind), mask, value, a, b,
                              __builtin_return_address(0));
}
