#include "worker/oracle/bench.h"

#include <algorithm>
#include <utility>

#include "common/net/frame_socket.h"
#include "common/suite/resolve.h"
#include "worker/judgement/evaluation.h"

namespace warpsmith {
namespace {

constexpr Duration kLoadLimit = std::chrono::seconds(10);
constexpr Duration kBindLimit = std::chrono::seconds(10);

Ending EndingOf(std::variant<Done, Outcome> answer) {
  if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
  return std::nullopt;
}

// Whose fault it is that the device's memory does not hold the plan's buffers; nothing: it does.
Ending MemoryTooSmall(const ResolvedPlan& plan, const DeviceFacts& device) {
  if (device.memory_bytes <= 0) return std::nullopt;
  uint64_t own_bytes = 0, temp_bytes = 0, elements = 0;
  for (const BufferSpec& buffer : plan.buffers) {
    const bool temp = buffer.role == BufferRole::kTemp;
    (temp ? temp_bytes : own_bytes) += BytesOf(buffer);
    if (!temp) elements += static_cast<uint64_t>(ElementsOf(buffer));
  }
  const uint64_t usable = static_cast<uint64_t>(device.memory_bytes) / 10 * 9;
  const auto needed = [&](uint64_t set_bytes) {
    return NeededBytes(set_bytes, BufferSets(set_bytes, device), elements);
  };
  if (needed(own_bytes + temp_bytes) <= usable) return std::nullopt;
  const std::string has = std::to_string(usable >> 20) + " MiB of the device's memory serve";
  if (needed(own_bytes) <= usable)
    return ResourceError{"temps of " + std::to_string(temp_bytes >> 20) +
                         " MiB: with them the case needs " +
                         std::to_string(needed(own_bytes + temp_bytes) >> 20) + " MiB, " + has};
  return Infrastructure{
      InfrastructureKind::kOutOfMemory,
      "the case needs about " + std::to_string(needed(own_bytes) >> 20) + " MiB, " + has};
}

}  // namespace

StageClock::~StageClock() {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began_;
  const auto same = std::find_if(stages_.begin(), stages_.end(),
                                 [&](const StageTime& time) { return time.stage == stage_; });
  if (same != stages_.end())
    same->ms += took.count();
  else
    stages_.push_back({stage_, took.count()});
}

PartClock::~PartClock() {
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began_;
  const auto same =
      std::find_if(parts_.begin(), parts_.end(), [&](const auto& p) { return p.first == part_; });
  if (same != parts_.end())
    same->second += took.count();
  else
    parts_.emplace_back(part_, took.count());
}

std::variant<ResolvedPlan, Outcome> PlanFor(Bench& bench, size_t case_index) {
  auto resolved = ResolvePlan(bench.compiled.plan, bench.compiled.kernels, bench.known.task(),
                              bench.case_at(case_index).dims, bench.device.facts());
  const auto* plan = std::get_if<ResolvedPlan>(&resolved);
  if (plan != nullptr && plan->buffers.size() > kMaxFrameDescriptors)
    return Outcome(Rejected{"inputs, outputs and temps are more than " +
                            std::to_string(kMaxFrameDescriptors) + " buffers"});
  if (plan != nullptr)
    if (auto ending = MemoryTooSmall(*plan, bench.device.facts())) return std::move(*ending);
  return resolved;
}

Ending Load(Bench& bench, const ResolvedPlan& plan) {
  const StageClock clock(bench.stages, Stage::kLoad);
  const PartClock part(bench.parts, "load_ms");
  const LoadModule message{bench.compiled.binary, bench.compiled.kernels, plan};
  return EndingOf(bench.runner.Call(Stage::kLoad, message, {}, kLoadLimit));
}

Ending Lend(Bench& bench, Stage stage, const BufferSet& set) {
  const PartClock part(bench.parts, "lend_ms");
  return EndingOf(bench.runner.Call(stage, set.binding(), set.fds(), kBindLimit));
}

}  // namespace warpsmith
