// A deterministic stand-in for compiling, checking and timing: for tests of learning and of
// failures, where only the shape of the problem matters. Never a claim about any device. Pure.
//
// Read from the text:
//   threads   the product of the first launch's block expressions, for the first train case
//   vector    the first number named like "vec" among the `let` and `constexpr int` constants
//   items     likewise, named like "items", "unroll" or "rows_per"
//   streaming the text uses streaming loads or stores (load_cs, store_cs, __ldcs, __stcs)
//   fast      the text uses fast arithmetic (fast_..., __expf, __fdividef)
//
// Every task has a best choice, drawn from its id: T* in {64, 128, 256, 512}, V* in {2, 4, 8}, I*
// in {1, 2, 4}. With d(a, b) = |log2 a - log2 b|, in units of the baseline's time:
//
//   time = 0.4 (1 + 0.25 d(threads, T*) + 0.30 d(vector, V*) + 0.15 d(items, I*))
//          * (streaming ? 0.92 : 1) * (fast ? 0.95 : 1) + 0.02 (launches - 1)
//
// so that the best candidate is about 2.9 times as fast as the baseline, and a plain one slower.
// What fails:
//   rejected        no plan, a block that is no number or over 1024 threads
//   compile_error   a text without "__global__", or with "#error"
//   resource_error  threads * vector * items > 8192: registers
//   wrong_output    fast arithmetic on a task whose id draws "sensitive" (one in four)
//   launch_error    a block of fewer than 32 threads whose vector is 8
// Noise: each measured ratio is multiplied by exp(0.01 n), n uniform in [-1, 1), drawn from (seed,
// text, task, case).
#pragma once

#include <cstdint>
#include <string_view>

#include "common/model/outcome.h"
#include "common/model/task.h"

namespace warpsmith {

DeviceFacts SimulatedDevice(int index);

Outcome SimulatedOutcome(const Task& task, std::string_view text, Depth depth, uint64_t seed);

}  // namespace warpsmith
