// A plan for one case on one device: expressions become numbers, names become buffers, and
// everything that can be refused before a launch is refused here. Pure.
//
// Names in expressions, none of which may hide another: the case's dims; the task's whole-number
// scalars; sm_count, warp_size, max_shared (bytes, opt-in limit of one block); the plan's `let`,
// each of which sees those before it. An argument is, tried in this order, the name of an input,
// output or temp; the name of a task scalar, converted to the parameter's type when that loses
// nothing but a float's rounding; or an expression, converted likewise.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/outcome.h"
#include "common/model/plan.h"
#include "common/model/task.h"
#include "schema/device.h"

namespace warpsmith {

// Temps of one candidate together: at most the larger of this and kMaxTempsPerTask times what the
// task's own buffers take.
constexpr int64_t kMinTempBytes = int64_t{64} << 20;
constexpr int64_t kMaxTempsPerTask = 4;

// An Outcome is one of
//   Rejected        what no device allows: unknown kernel or name, arguments that do not fit,
//                   grid over 2^31-1 x 65535 x 65535, block over 1024 threads or 64 in z,
//                   cluster over 8 blocks, negative or overflowing expressions
//   ResourceError   what this device, or this kernel, does not allow: shared memory, threads,
//                   temps, clusters
//   Infrastructure  dims that are not this task's
// and its text names the launch and the field: "launch 2 (scale<4>): grid: ...".
std::variant<ResolvedPlan, Outcome> ResolvePlan(const Plan& plan,
                                                const std::vector<KernelInfo>& kernels,
                                                const Task& task, const Dims& dims,
                                                const DeviceFacts& device);

// Ten times a GPU's compute capability by its architecture's name: 90 for "sm_90" and for its
// feature variants "sm_90a" and "sm_90f". Nothing where the text names no GPU.
std::optional<int> ComputeCapability(std::string_view architecture);

}  // namespace warpsmith
