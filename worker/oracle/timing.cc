#include "worker/oracle/timing.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "common/suite/expression.h"

namespace warpsmith {
namespace {

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The least work of a case: what the task says, else all inputs read and all outputs written.
Result<WorkAmount> WorkOf(const Task& task, const Case& judged, const ResolvedPlan& plan) {
  WorkAmount amount;
  for (const BufferSpec& buffer : plan.buffers) {
    if (buffer.role == BufferRole::kInput)
      amount.read_bytes += static_cast<double>(BytesOf(buffer));
    if (buffer.role == BufferRole::kOutput)
      amount.write_bytes += static_cast<double>(BytesOf(buffer));
  }
  const std::pair<const std::string*, double*> fields[] = {
      {&task.work.read_bytes, &amount.read_bytes},
      {&task.work.write_bytes, &amount.write_bytes},
      {&task.work.flops, &amount.flops}};
  for (const auto& [text, value] : fields) {
    if (text->empty()) continue;
    ASSIGN_OR_RETURN(const int64_t number, EvaluateExpression(*text, judged.dims));
    *value = static_cast<double>(number);
  }
  return amount;
}

// How much longer this thread's work takes by the wall clock than on a core of its own, now.
double WallByCpuTime() {
  const auto cpu_us = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
  };
  constexpr double kSpinUs = 2000;
  const TimePoint began = std::chrono::steady_clock::now();
  const double start = cpu_us();
  double spent = 0;
  while (spent < kSpinUs) spent = cpu_us() - start;
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
             .count() /
         spent;
}

// One case being timed. Each method ends the evaluation by returning an outcome.
class CaseTimer {
 public:
  CaseTimer(Bench& bench, const EvaluationSteps& steps, size_t case_index)
      : bench_(bench),
        steps_(steps),
        case_index_(case_index),
        task_(bench.known.task()),
        case_(bench.case_at(case_index)),
        kind_(bench.device.facts().kind) {}

  std::variant<Measurement, Outcome> Run();

 private:
  Ending Prepare();
  Ending TimeBaselineAlone();
  Ending Refill();
  Ending TimeBaselineAloneAgain();
  void JudgeFreeRounds();
  Ending RunTurns(bool with_candidate);
  Ending RunBlock(bool counts);
  Ending Candidate(std::span<const size_t> order);
  Ending Baseline(std::span<const size_t> order);
  Ending CheckBlock(size_t chosen);
  Ending CheckOutputs();
  Ending CheckAgainstWallClock();
  Measurement Summary() const;

  Bench& bench_;
  const EvaluationSteps& steps_;
  const size_t case_index_;
  const Task& task_;
  const Case& case_;
  const DeviceKind kind_;

  ResolvedPlan plan_;
  std::unique_ptr<CaseJudge> judge_;
  std::vector<std::unique_ptr<BufferSet>> sets_;
  std::vector<BoundReference> baseline_;  // one a set
  std::vector<Values> baseline_results_;
  double floor_us_ = 0;

  std::vector<double> free_rounds_us_;
  double free_median_us_ = 0, free_sigma_us_ = 0;  // of a block's baseline, nobody else running
  size_t chosen_ = 0;                              // the set of a block that is looked at closely
  std::vector<double> candidate_runs_, baseline_runs_;  // of the block that runs now
  std::vector<std::vector<double>> candidate_blocks_, baseline_blocks_;
  std::vector<double> candidate_us_, baseline_us_, log_ratios_, clocks_;
  size_t void_blocks_ = 0, blocks_run_ = 0;
  double confidence_ = 0.95;
};

Ending CaseTimer::Prepare() {
  auto resolved = PlanFor(bench_, case_index_);
  if (auto* outcome = std::get_if<Outcome>(&resolved)) return std::move(*outcome);
  plan_ = std::get<ResolvedPlan>(std::move(resolved));
  const auto work = WorkOf(task_, case_, plan_);
  if (!work) return InfrastructureFrom(work.error());
  floor_us_ = FloorUs(*work, bench_.device.facts());
  const auto bounds = bench_.known.Bounds(case_index_, bench_.device);
  if (!bounds) return InfrastructureFrom(bounds.error());
  judge_ = std::make_unique<CaseJudge>(task_, case_, **bounds);

  uint64_t set_bytes = 0;
  for (const BufferSpec& buffer : plan_.buffers) set_bytes += BytesOf(buffer);
  const size_t count = BufferSets(set_bytes, bench_.device.facts());
  if (auto ending = Load(bench_, plan_)) return ending;
  for (size_t i = 0; i < count; ++i) {
    sets_.push_back(std::make_unique<BufferSet>(bench_.device, task_, case_,
                                                static_cast<uint32_t>(case_index_), plan_,
                                                static_cast<uint32_t>(i)));
    {
      const PartClock part(bench_.parts, "allocate_ms");
      if (auto done = sets_[i]->Allocate(Placement::kAligned256); !done)
        return InfrastructureFrom(done.error());
    }
    if (auto ending = Lend(bench_, steps_.timing, *sets_[i])) return ending;
    auto bound = bench_.known.reference().Bind(case_.dims, sets_[i]->input_views());
    if (!bound) return InfrastructureFrom(bound.error());
    baseline_.push_back(std::move(*bound));
  }
  baseline_results_.resize(count);
  return std::nullopt;
}

Ending CaseTimer::Baseline(std::span<const size_t> order) {
  const PartClock part(bench_.parts, "baseline_ms");
  // The library takes the memory of the last results again, as a program in a loop would.
  for (size_t i : order) baseline_results_[i] = Values();
  std::optional<Error> failed;
  const auto times = bench_.device.Time(order.size(), [&](size_t i) {
    auto result = baseline_[order[i]].Run();
    if (result)
      baseline_results_[order[i]] = std::move(*result);
    else
      failed = result.error();
  });
  if (!times) return InfrastructureFrom(times.error());
  if (failed) return InfrastructureFrom(*failed);
  for (double us : *times) {
    if (!(us > 0))
      return Infrastructure{InfrastructureKind::kInternal, "the baseline took no time at all"};
    baseline_runs_.push_back(us);
  }
  return std::nullopt;
}

// What the baseline takes in blocks in which the runner takes its turns and launches nothing: every
// effect of handing over is in it, none of a candidate. The first one makes the library ready. One
// content serves them all: no candidate runs before the next.
Ending CaseTimer::TimeBaselineAlone() {
  if (auto ending = Refill()) return ending;
  for (size_t round = 0; round <= steps_.free_rounds; ++round) {
    if (auto ending = RunTurns(false)) return ending;
    if (round > 0) free_rounds_us_.push_back(Sum(baseline_runs_));
  }
  JudgeFreeRounds();
  return std::nullopt;
}

// Another round without the candidate, the oldest of them forgotten: where the machine itself has
// changed since, it shows here too, and the blocks to come are judged by what it is now.
Ending CaseTimer::TimeBaselineAloneAgain() {
  if (auto ending = RunTurns(false)) return ending;
  free_rounds_us_.erase(free_rounds_us_.begin());
  free_rounds_us_.push_back(Sum(baseline_runs_));
  JudgeFreeRounds();
  return std::nullopt;
}

void CaseTimer::JudgeFreeRounds() {
  free_median_us_ = Median(free_rounds_us_);
  free_sigma_us_ =
      std::max(RobustSigma(free_rounds_us_), steps_.rules.least_free_sigma * free_median_us_);
}

Ending CaseTimer::Candidate(std::span<const size_t> order) {
  const PartClock part(bench_.parts, "runner_ms");
  RunPlan run{.sets = {}, .timed = true, .dirty_shared = false};
  for (size_t i : order) run.sets.push_back(static_cast<uint32_t>(i));
  const double each_us = free_median_us_ / static_cast<double>(sets_.size());
  auto answer = bench_.runner.Call(steps_.timing, run, {}, RunLimit(each_us, order.size(), kind_));
  if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
  const Done& done = std::get<Done>(answer);
  candidate_runs_.insert(candidate_runs_.end(), done.run_us.begin(), done.run_us.end());
  clocks_.push_back(done.sm_clock_mhz);
  return std::nullopt;
}

// Every output against the baseline's on the same content; one set against the truth as well, and
// whether the candidate kept to its buffers there.
Ending CaseTimer::CheckBlock(size_t chosen) {
  const auto written = sets_[chosen]->InputWritten();
  if (!written) return InfrastructureFrom(written.error());
  if (*written) {
    bench_.runner.Discard("it wrote to an input");
    return Violation{ViolationKind::kInputModified,
                     "input " + **written + " was written to while timed"};
  }
  const auto outside = sets_[chosen]->WrittenOutside();
  if (!outside) return InfrastructureFrom(outside.error());
  if (*outside) {
    bench_.runner.Discard("it wrote out of bounds");
    return Violation{ViolationKind::kOutOfBounds, **outside + ", while timed"};
  }
  {
    const PartClock part(bench_.parts, "compare_ms");
    for (size_t i = 0; i < sets_.size(); ++i)
      if (auto ending = judge_->AgainstBaseline(*sets_[i], baseline_results_[i])) return ending;
  }
  const PartClock part(bench_.parts, "exact_ms");
  const auto exact =
      bench_.known.reference().RunExact(case_.dims, sets_[chosen]->input_views(), plan_.buffers);
  if (!exact) return InfrastructureFrom(exact.error());
  return judge_->AgainstExact(*sets_[chosen], *exact, baseline_results_[chosen]);
}

// Fresh content everywhere.
Ending CaseTimer::Refill() {
  const PartClock part(bench_.parts, "fill_ms");
  chosen_ = bench_.random.Below(sets_.size());
  for (auto& set : sets_)
    if (auto done = set->Fill(bench_.random.Fork(), bench_.random.Bits()); !done)
      return InfrastructureFrom(done.error());
  if (auto done = sets_[chosen_]->Remember(); !done) return InfrastructureFrom(done.error());
  if (auto done = bench_.device.Synchronize(); !done) return InfrastructureFrom(done.error());
  return std::nullopt;
}

// The turns of one block in randomised ABBA order. Without a candidate its turns are empty.
Ending CaseTimer::RunTurns(bool with_candidate) {
  candidate_runs_.clear();
  baseline_runs_.clear();
  std::vector<size_t> order(sets_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[bench_.random.Below(i)]);
  const std::span<const size_t> halves[2] = {std::span(order).first(order.size() / 2),
                                             std::span(order).subspan(order.size() / 2)};
  const bool leads = CandidateLeads(bench_.random);
  for (int turn = 0; turn < 4; ++turn) {
    const bool outer = turn == 0 || turn == 3;
    const std::span<const size_t> half = halves[turn / 2];
    if (outer == leads) {
      if (auto ending = Candidate(with_candidate ? half : std::span<const size_t>())) return ending;
    } else if (auto ending = Baseline(half)) {
      return ending;
    }
  }
  return std::nullopt;
}

Ending CaseTimer::RunBlock(bool counts) {
  if (auto ending = Refill()) return ending;
  if (auto ending = RunTurns(true)) return ending;
  if (auto ending = CheckBlock(chosen_)) return ending;
  if (!counts) return std::nullopt;

  ++blocks_run_;
  candidate_blocks_.push_back(candidate_runs_);
  baseline_blocks_.push_back(baseline_runs_);
  const double baseline_us = Sum(baseline_runs_);
  const double slack_us = steps_.rules.hand_over_us * static_cast<double>(sets_.size());
  if (BlockIsVoid(baseline_us, free_median_us_, free_sigma_us_, slack_us)) {
    ++void_blocks_;
    return TimeBaselineAloneAgain();
  }
  const double candidate_us = Sum(candidate_runs_);
  const auto runs = static_cast<double>(sets_.size());
  candidate_us_.push_back(candidate_us / runs);
  baseline_us_.push_back(baseline_us / runs);
  log_ratios_.push_back(std::log(baseline_us / candidate_us));
  return std::nullopt;
}

// Every set's outputs against the baseline's on what the set holds now.
Ending CaseTimer::CheckOutputs() {
  for (size_t i = 0; i < sets_.size(); ++i) {
    const auto expected = baseline_[i].Run();
    if (!expected) return InfrastructureFrom(expected.error());
    if (auto ending = judge_->AgainstBaseline(*sets_[i], *expected)) return ending;
  }
  return std::nullopt;
}

// Runs back to back, clocked from here: the time of one more run must not be far above what the
// runner said of a timed one, which also had a cold cache (docs/design.md, "Rules", 7). Their
// outputs are looked at too, or a runner could skip what nobody times.
Ending CaseTimer::CheckAgainstWallClock() {
  const double said_us = Median(candidate_us_);
  // Each set's at least once; clamped as a double, for a runner may say that it takes next to
  // nothing.
  const double wanted = std::clamp(5000 / said_us, static_cast<double>(sets_.size()), 400.0);
  const size_t runs = static_cast<size_t>(std::ceil(wanted)) + 1;
  double least_us = INFINITY, crowding = 1;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (steps_.rules.wall_is_crowded) crowding = std::max(crowding, WallByCpuTime());
    for (auto& set : sets_)
      if (auto done = set->Fill(bench_.random.Fork(), bench_.random.Bits()); !done)
        return InfrastructureFrom(done.error());
    if (auto done = bench_.device.Synchronize(); !done) return InfrastructureFrom(done.error());
    double wall_us[2] = {0, 0};
    for (int many = 0; many < 2; ++many) {
      RunPlan run{.sets = {}, .timed = false, .dirty_shared = false};
      for (size_t i = 0; i < (many ? runs : 1); ++i)
        run.sets.push_back(static_cast<uint32_t>(i % sets_.size()));
      auto answer = bench_.runner.Call(steps_.timing, run, {},
                                       RunLimit(free_median_us_, run.sets.size(), kind_));
      if (auto* outcome = std::get_if<Outcome>(&answer)) return std::move(*outcome);
      wall_us[many] = std::chrono::duration<double, std::micro>(bench_.runner.last_wait()).count();
    }
    if (auto ending = CheckOutputs()) return ending;
    least_us = std::min(least_us, (wall_us[1] - wall_us[0]) / static_cast<double>(runs - 1));
  }
  const double most_us =
      (steps_.rules.wall_factor * said_us + steps_.rules.wall_slack_us) * crowding;
  if (least_us <= most_us) return std::nullopt;
  bench_.runner.Discard("forged times");
  return Violation{ViolationKind::kTimeForged, "runs said to take " + std::to_string(said_us) +
                                                   " us take " + std::to_string(least_us) +
                                                   " us by the oracle's clock"};
}

Measurement CaseTimer::Summary() const {
  const DeviceFacts& facts = bench_.device.facts();
  Measurement m{.timed_case = case_, .device_kind = kind_, .clock_mode = facts.clock_mode};
  m.confidence = confidence_;
  m.floor_us = floor_us_;
  m.candidate_block_us = candidate_us_;
  m.baseline_block_us = baseline_us_;
  double clock_sum = 0;
  int clocks = 0;
  for (double clock : clocks_)
    if (clock > 0) clock_sum += clock, ++clocks;
  m.sm_clock_mhz = clocks > 0 ? clock_sum / clocks : 0;
  m.noise = AaNoise(baseline_us_, baseline_us_.size());
  bool known = false;
  if (!log_ratios_.empty()) {  // no number rather than a wrong one
    Random random(1);          // the same samples give the same interval
    const Interval interval = BootstrapMedian(log_ratios_, confidence_, random);
    known = interval.known;
    m.candidate_us = Median(candidate_us_);
    m.baseline_us = Median(baseline_us_);
    m.speedup = std::exp(interval.middle);
    m.speedup_low = std::exp(interval.low);
    m.speedup_high = std::exp(interval.high);
    m.comparison = Compare(interval, WilcoxonSignedRank(log_ratios_), m.noise);
    m.below_floor = floor_us_ > 0 && m.candidate_us < floor_us_;
  }
  m.validity = JudgeValidity({.candidate_us = candidate_us_,
                              .baseline_us = baseline_us_,
                              .void_blocks = void_blocks_,
                              .noise = m.noise,
                              .decided = m.comparison != Comparison::kTie,
                              .clocks_mhz = clocks_,
                              .mode = facts.clock_mode},
                             steps_.rules.noise);
  // Too few blocks for an interval are no evidence for or against anybody.
  if (!log_ratios_.empty() && !known) m.validity = Validity::kNoisy;
  return m;
}

std::variant<Measurement, Outcome> CaseTimer::Run() {
  if (auto ending = Prepare()) return std::move(*ending);
  const StageClock clock(bench_.stages, steps_.timing);
  if (auto ending = TimeBaselineAlone()) return std::move(*ending);
  // One whole block, judged like the others but not counted: mappings, code and clocks become warm.
  if (auto ending = RunBlock(false)) return std::move(*ending);
  clocks_.clear();

  HalfWidthCriterion criterion(steps_.stopping, bench_.random.Fork());
  confidence_ = criterion.confidence();
  const TimePoint began = std::chrono::steady_clock::now();
  do {
    if (auto ending = RunBlock(true)) return std::move(*ending);
  } while (criterion.Decide({.log_ratios = log_ratios_,
                             .blocks_run = blocks_run_,
                             .spent = std::chrono::steady_clock::now() - began}) ==
               StopReason::kGoOn ||
           (blocks_run_ < steps_.rules.blocks_if_noisy && Summary().validity == Validity::kNoisy));

  Measurement measurement = Summary();
  if (!steps_.rules.uneven_only_if_valid || measurement.validity == Validity::kValid)
    if (const auto position =
            UnevenPosition(candidate_blocks_, baseline_blocks_, steps_.rules.uneven))
      return Outcome(Violation{
          ViolationKind::kUneven,
          "run " + std::to_string(*position + 1) + " of a block takes another time than the rest"});
  if (measurement.below_floor || steps_.timing == Stage::kConfirm)
    if (!candidate_us_.empty())
      if (auto ending = CheckAgainstWallClock()) {
        auto* violation = std::get_if<Violation>(&*ending);
        if (violation != nullptr && measurement.below_floor)
          violation->kind = ViolationKind::kImplausible;
        return std::move(*ending);
      }
  return measurement;
}

}  // namespace

std::variant<Measurement, Outcome> TimeCase(Bench& bench, const EvaluationSteps& steps,
                                            size_t case_index) {
  return CaseTimer(bench, steps, case_index).Run();
}

}  // namespace warpsmith
