// What a candidate and the runtime call of each other. The candidate's half is generated from
// worker/host/shim/entry.h; the shim declares the runtime's half (types.h, threads.h).
#pragma once

#include <cstdint>

namespace warpsmith::host {

// In step with the enums of worker/host/shim/threads.h.
enum class BarrierKind : uint32_t { kPlain, kCount, kAnd, kOr };
enum class WarpKind : uint32_t {
  kSync,
  kActiveMask,
  kShfl,
  kShflUp,
  kShflDown,
  kShflXor,
  kBallot,
  kAny,
  kAll,
  kMatchAny,
  kMatchAll,
  kAdd,
  kMin,
  kMax,
  kMinUnsigned,
  kMaxUnsigned,
  kAnd,
  kOr,
  kXor
};

}  // namespace warpsmith::host

extern "C" {

// ---- the candidate's

struct warpsmith_kernel {
  void (*thread)(void* const* arguments);
  void (*loop)(void* const* arguments, bool reversed);
};
extern const warpsmith_kernel warpsmith_kernels[];
extern const unsigned int warpsmith_kernel_count;
void warpsmith_set_launch(const unsigned int* grid, const unsigned int* block);
void warpsmith_set_block(unsigned int x, unsigned int y, unsigned int z);
void warpsmith_set_thread(unsigned int x, unsigned int y, unsigned int z);
void warpsmith_where(unsigned int* where);

// ---- the runtime's

// __syncthreads and its kin. Returns the count, the conjunction or the disjunction of `predicate`.
unsigned int warpsmith_barrier(unsigned int kind, unsigned int predicate);
// The operations of a warp: `mask` names the lanes that take part; a, b: lane or distance, and
// width.
unsigned long warpsmith_warp(unsigned int kind, unsigned int mask, unsigned long value,
                             unsigned int a, unsigned int b);
[[noreturn]] void warpsmith_trap(const char* why);
int warpsmith_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Runs one block with a fiber for each thread that waits. Linked only with a candidate that refers
// to warpsmith_barrier or warpsmith_warp; elsewhere the address is null and a block is a plain
// loop.
void warpsmith_run_with_fibers(const warpsmith_kernel* kernel, void* const* arguments,
                               const unsigned int* block, bool reversed) __attribute__((weak));
}
