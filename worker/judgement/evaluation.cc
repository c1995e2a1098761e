#include "worker/judgement/evaluation.h"

#include <algorithm>
#include <cmath>

#include "common/model/device_kind.h"

namespace warpsmith {

EvaluationSteps PlanEvaluation(const Task& task, DeviceKind kind, Depth depth) {
  EvaluationSteps steps;
  steps.rules = TimingRulesFor(kind);
  const auto& cases = CasesOf(task, kind);
  const bool holdout = depth >= Depth::kMeasure;
  // Edge cases are the smallest and catch most: a wrong candidate ends early.
  for (CaseRole role : {CaseRole::kEdge, CaseRole::kTrain, CaseRole::kHoldout}) {
    if (role == CaseRole::kHoldout && !holdout) continue;
    for (size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].role != role) continue;
      steps.verify.push_back(i);
      if (role != CaseRole::kEdge && depth != Depth::kVerify) steps.timed.push_back(i);
    }
  }
  using std::chrono::milliseconds;
  switch (depth) {
    case Depth::kVerify:
    case Depth::kScreen:
      steps.timing = Stage::kScreen;
      steps.stopping = {.target_half_width = 0.02,
                        .clearly_slower = steps.rules.clearly_slower,
                        .min_blocks = 6,
                        .max_blocks = 11,
                        .budget = steps.rules.screen_budget};
      break;
    case Depth::kMeasure:
      steps.timing = Stage::kMeasure;
      steps.stopping = {.target_half_width = 0.01,
                        .min_blocks = 8,
                        .max_blocks = 48,
                        .budget = milliseconds(4000)};
      steps.free_rounds = 8;
      break;
    case Depth::kConfirm:
      steps.timing = Stage::kConfirm;
      steps.stopping = {.target_half_width = 0.007,
                        .min_blocks = 12,
                        .max_blocks = 96,
                        .budget = milliseconds(10000)};
      steps.free_rounds = 10;
      steps.fresh_process = true;
      break;
  }
  return steps;
}

size_t BufferSets(uint64_t bytes_per_set, const DeviceFacts& device) {
  const auto memory = static_cast<uint64_t>(std::max<int64_t>(device.memory_bytes, 0));
  if (memory > 0 && bytes_per_set > memory / 16) return 2;
  if (TraitsOf(device.kind).cold_cache == ColdCache::kByFlush || bytes_per_set == 0) return 4;
  const auto cache = 3 * static_cast<uint64_t>(std::max<int64_t>(device.l2_bytes, 0));
  const uint64_t wanted = std::clamp<uint64_t>((cache + bytes_per_set - 1) / bytes_per_set, 4, 8);
  return static_cast<size_t>(wanted + wanted % 2);
}

double FloorUs(const WorkAmount& work, const DeviceFacts& device) {
  double seconds = 0;
  if (device.peak_bandwidth_bytes_per_s > 0) {
    const double writes = std::max(
        0.0, work.write_bytes - static_cast<double>(std::max<int64_t>(device.l2_bytes, 0)));
    seconds = (work.read_bytes + writes) / device.peak_bandwidth_bytes_per_s;
  }
  if (device.peak_flops_per_s > 0)
    seconds = std::max(seconds, work.flops / device.peak_flops_per_s);
  return seconds * 1e6;
}

uint64_t NeededBytes(uint64_t bytes_per_set, size_t sets, uint64_t elements) {
  return bytes_per_set * sets + elements * 8 * 2;
}

Duration RunLimit(double baseline_us, size_t runs, DeviceKind kind) {
  // A plain kernel may well take a hundred times the library's; the slack covers the machine.
  const double slack_ms =
      std::chrono::duration<double, std::milli>(TimingRulesFor(kind).run_slack).count();
  const double ms = slack_ms + 0.3 * baseline_us * static_cast<double>(runs);
  return std::chrono::milliseconds(static_cast<int64_t>(std::min(ms, 30000.0)));
}

}  // namespace warpsmith
