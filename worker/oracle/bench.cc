#include "worker/oracle/bench.h"

#include <algorithm>
#include <utility>

#include "common/net/frame_socket.h"
#include "common/suite/resolve.h"

namespace warpsmith {
namespace {

constexpr Duration kLoadLimit = std::chrono::seconds(10);
constexpr Duration kBindLimit = std::chrono::seconds(10);

Ending EndingOf(std::variant<Done, Outcome> answer) {
  if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
  return std::nullopt;
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
