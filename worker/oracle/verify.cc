#include "worker/oracle/verify.h"

#include <utility>

#include "worker/judgement/evaluation.h"

namespace warpsmith {
namespace {

bool NothingToWrite(const ResolvedPlan& plan) {
  for (const BufferSpec& buffer : plan.buffers)
    if (buffer.role == BufferRole::kOutput && ElementsOf(buffer) > 0) return false;
  return true;
}

// What a run may not have touched.
Ending CheckTraces(Bench& bench, BufferSet& set) {
  const auto written = set.InputWritten();
  if (!written) return InfrastructureFrom(written.error());
  if (*written) {
    bench.runner.Discard("it wrote to an input");
    return Violation{ViolationKind::kInputModified, "input " + **written + " was written to"};
  }
  const auto outside = set.WrittenOutside();
  if (!outside) return InfrastructureFrom(outside.error());
  if (*outside) {
    bench.runner.Discard("it wrote out of bounds");
    return Violation{ViolationKind::kOutOfBounds, **outside};
  }
  return std::nullopt;
}

Ending CompareRuns(const Task& task, BufferSet& first, BufferSet& second) {
  const auto one = first.OutputDigests();
  if (!one) return InfrastructureFrom(one.error());
  const auto two = second.OutputDigests();
  if (!two) return InfrastructureFrom(two.error());
  for (size_t i = 0; i < task.outputs.size(); ++i)
    if (!task.outputs[i].order_free && (*one)[i] != (*two)[i])
      return Nondeterministic{task.outputs[i].name};
  return std::nullopt;
}

}  // namespace

Ending VerifyCase(Bench& bench, size_t case_index) {
  const Task& task = bench.known.task();
  const Case& judged = bench.case_at(case_index);
  auto resolved = PlanFor(bench, case_index);
  if (auto* outcome = std::get_if<Outcome>(&resolved)) return std::move(*outcome);
  const ResolvedPlan& plan = std::get<ResolvedPlan>(resolved);
  if (NothingToWrite(plan)) return std::nullopt;
  if (auto ending = Load(bench, plan)) return ending;

  const StageClock clock(bench.stages, Stage::kVerify);
  const auto bounds = [&] {
    const PartClock part(bench.parts, "bounds_ms");
    return bench.known.Bounds(case_index, bench.device);
  }();
  if (!bounds) return InfrastructureFrom(bounds.error());
  const uint64_t seed = bench.random.Fork();
  const uint32_t pattern = bench.random.Bits();
  const auto number = static_cast<uint32_t>(case_index);
  BufferSet first(bench.device, task, judged, number, plan, 0);
  BufferSet second(bench.device, task, judged, number, plan, 1);
  const std::pair<BufferSet*, Placement> places[] = {{&first, Placement::kEndsAtGuard},
                                                     {&second, Placement::kStartsAtGuard}};
  for (const auto& [set, placement] : places) {
    const PartClock part(bench.parts, "verify_fill_ms");
    if (auto done = set->Allocate(placement); !done) return InfrastructureFrom(done.error());
    const uint32_t own = pattern ^ (set->number() * 0x15);
    if (auto done = set->Fill(seed, own); !done) return InfrastructureFrom(done.error());
    if (auto done = set->Remember(); !done) return InfrastructureFrom(done.error());
    if (auto ending = Lend(bench, Stage::kVerify, *set)) return ending;
  }
  if (auto done = bench.device.Synchronize(); !done) return InfrastructureFrom(done.error());
  const RunPlan run{.sets = {0, 1}, .timed = false, .dirty_shared = true};
  const Duration limit = RunLimit((*bounds)->baseline_us, 2, bench.device.facts().kind);
  {
    const PartClock part(bench.parts, "verify_run_ms");
    auto answer = bench.runner.Call(Stage::kVerify, run, {}, limit);
    if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
  }

  const PartClock part(bench.parts, "verify_check_ms");
  for (const auto& [set, placement] : places)
    if (auto ending = CheckTraces(bench, *set)) return ending;
  // Only now: the truth never lies in memory while a candidate runs.
  const Reference& reference = bench.known.reference();
  const auto exact = reference.RunExact(judged.dims, first.input_views(), plan.buffers);
  if (!exact) return InfrastructureFrom(exact.error());
  const CaseJudge judge(task, judged, **bounds);
  Values native;
  if (judge.needs_native()) {
    const auto run_native = reference.Run(judged.dims, first.input_views(), plan.buffers);
    if (!run_native) return InfrastructureFrom(run_native.error());
    native = *run_native;
  }
  // Before anything is judged: a report makes an output poison again.
  const Ending differs = CompareRuns(task, first, second);
  if (auto ending = judge.AgainstExact(first, *exact, native)) return ending;
  if (auto ending = judge.AgainstExact(second, *exact, native)) return ending;
  return differs;
}

}  // namespace warpsmith
