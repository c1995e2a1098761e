#include "worker/oracle/evaluate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/runtime/log.h"
#include "worker/judgement/evaluation.h"
#include "worker/oracle/timing.h"
#include "worker/oracle/verify.h"

namespace warpsmith {
namespace {

std::string Label(const Case& judged) {
  std::string text;
  for (const auto& [name, size] : judged.dims)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(size);
  return "case {" + text + "}";
}

std::string SpreadText(const std::vector<double>& us) {
  if (us.empty()) return "unknown";
  return std::to_string(std::lround(100 * RobustSigma(us) / Median(us))) + " %";
}

bool IsUneven(const Outcome& outcome) {
  const auto* violation = std::get_if<Violation>(&outcome);
  return violation != nullptr && violation->kind == ViolationKind::kUneven;
}

// Why a measurement may not become a score; nothing: it may.
Ending WhyNot(const Measurement& measurement) {
  const std::string label = Label(measurement.timed_case);
  if (measurement.below_floor)
    return Infrastructure{InfrastructureKind::kInternal,
                          label + ": " + std::to_string(measurement.candidate_us) +
                              " us is below the floor of " + std::to_string(measurement.floor_us) +
                              " us: masked"};
  switch (measurement.validity) {
    case Validity::kValid: return std::nullopt;
    case Validity::kClocksUnverified:
      return Infrastructure{InfrastructureKind::kClocksUnverified,
                            label + ": nobody saw the clock that is said to be locked"};
    case Validity::kNoisy:
    case Validity::kThrottled: break;
  }
  return Infrastructure{InfrastructureKind::kTooNoisy,
                        label + ": " + ToString(measurement.validity) + ": " +
                            std::to_string(measurement.candidate_block_us.size()) +
                            " blocks count, spread " + SpreadText(measurement.candidate_block_us) +
                            " of the candidate, " + SpreadText(measurement.baseline_block_us) +
                            " of the baseline"};
}

}  // namespace

Result<KnownTask*> Judge::Know(const Task& task) {
  for (auto at = known_.begin(); at != known_.end(); ++at) {
    if (!((*at)->task() == task)) continue;
    known_.splice(known_.begin(), known_, at);
    return known_.front().get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<KnownTask> made, KnownTask::Make(task, device_));
  known_.push_front(std::move(made));
  if (known_.size() > kTasksKept) known_.pop_back();
  return known_.front().get();
}

Outcome Judge::Run(const EvaluateRequest& request, std::vector<StageTime>& stages,
                   PartTimes& parts) {
  if (request.compiled.device_kind != device_.facts().kind)
    return Infrastructure{InfrastructureKind::kInternal,
                          std::string("compiled for device ") +
                              ToString(request.compiled.device_kind) + ", this one is " +
                              ToString(device_.facts().kind)};
  auto known = [&] {
    const StageClock clock(stages, Stage::kAdmit);
    const PartClock part(parts, "admit_ms");
    return Know(request.task);
  }();
  if (!known) return InfrastructureFrom(known.error());
  const EvaluationSteps steps = PlanEvaluation(request.task, device_.facts().kind, request.depth);
  if (steps.fresh_process) runner_.Discard("a confirmation takes a fresh process");

  Bench bench{device_, runner_, **known, request.compiled, Random(SecretSeed()), stages, parts};
  // What can be refused before anything runs is refused first, for every case.
  for (size_t index : steps.verify) {
    auto resolved = PlanFor(bench, index);
    if (auto* outcome = std::get_if<Outcome>(&resolved)) return std::move(*outcome);
  }
  for (size_t index : steps.verify)
    if (auto ending = VerifyCase(bench, index)) return std::move(*ending);

  Correct correct;
  std::vector<double> scores;
  for (size_t index : steps.timed) {
    Ending masked;
    int uneven = 0;
    for (int attempt = 0; attempt < std::max(steps.attempts, steps.rules.uneven_loads); ++attempt) {
      auto timed = TimeCase(bench, steps, index);
      if (auto* outcome = std::get_if<Outcome>(&timed)) {
        if (!IsUneven(*outcome) || ++uneven >= steps.rules.uneven_loads) return std::move(*outcome);
        // Uneven once may be the machine; each attempt loads the module anew.
        masked = Infrastructure{InfrastructureKind::kTooNoisy,
                                Label(bench.case_at(index)) + ": uneven, not in every load"};
        continue;
      }
      auto& measurement = std::get<Measurement>(timed);
      masked = WhyNot(measurement);
      if (masked) continue;
      scores.push_back(ScoredSpeedup(measurement.comparison, measurement.speedup));
      correct.measurements.push_back(std::move(measurement));
      break;
    }
    if (masked) return std::move(*masked);
  }
  if (!scores.empty()) correct.speedup = GeometricMean(scores);
  return correct;
}

EvaluateReply Judge::Evaluate(const EvaluateRequest& request) {
  EvaluateReply reply{.id = request.id};
  runner_.Begin(request.id);
  PartTimes parts;
  {
    const PartClock whole(parts, "total_ms");
    reply.outcome = Run(request, reply.stages, parts);
  }
  std::vector<LogField> fields = {{"task", request.task.id},
                                  {"outcome", OutcomeLabel(reply.outcome)}};
  for (const auto& [part, ms] : parts) fields.emplace_back(part, std::round(ms * 10) / 10);
  LogList(LogLevel::kDebug, "evaluation_timing", fields);
  reply.log = runner_.output();
  return reply;
}

}  // namespace warpsmith
