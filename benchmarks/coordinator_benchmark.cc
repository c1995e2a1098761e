// What the coordinator's decisions cost: the pure core, with a store that is durable at once.
//
//   coordinator/evaluation_jobs/workers:W/backlog:B   a wave of jobs of one candidate each, while B
//                                                     others wait
//   coordinator/rollout/workers:W                     a wave of a run's jobs, episodes of 4 turns
//   coordinator/learning                              the same for one worker and a learner, with a
//                                                     step of it in each wave
//   coordinator/heartbeat/workers:W                   one from every worker, all of them busy
//
// Times are CPU time inside the core. A worker holds 16 jobs. Counters, an iteration: `jobs` whose
// whole life passed, `results`, `evaluations` in them, `messages` of any kind.
#include <benchmark/benchmark.h>

#include "benchmarks/core_driver.h"

namespace warpsmith {
namespace {

void Count(benchmark::State& state, const char* name, int64_t count) {
  state.counters[name] =
      benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
}

void Waves(benchmark::State& state, CoreDriver& driver) {
  driver.TakeSeconds();
  for (auto _ : state) {
    driver.Wave();
    state.SetIterationTime(driver.TakeSeconds());
  }
  Count(state, "jobs", driver.jobs());
  Count(state, "results", driver.results());
  Count(state, "evaluations", driver.evaluations());
}

void EvaluationJobs(benchmark::State& state) {
  CoreDriver driver({.workload = Workload::kEvaluationJobs,
                     .workers = static_cast<int>(state.range(0)),
                     .backlog = state.range(1)});
  Waves(state, driver);
}
BENCHMARK(EvaluationJobs)
    ->Name("coordinator/evaluation_jobs")
    ->ArgNames({"workers", "backlog"})
    ->Args({1, 0})
    ->Args({64, 0})
    ->Args({64, 4096})
    ->UseManualTime();

void Rollout(benchmark::State& state) {
  CoreDriver driver({.workload = Workload::kRollout, .workers = static_cast<int>(state.range(0))});
  Waves(state, driver);
}
BENCHMARK(Rollout)
    ->Name("coordinator/rollout")
    ->ArgNames({"workers"})
    ->Arg(1)
    ->Arg(16)
    ->UseManualTime();

// One worker: 256 episodes, which the run's staleness lets be under way at once.
void Learning(benchmark::State& state) {
  CoreDriver driver({.workload = Workload::kLearning});
  Waves(state, driver);
}
BENCHMARK(Learning)->Name("coordinator/learning")->UseManualTime();

void Heartbeats(benchmark::State& state) {
  CoreDriver driver({.workload = Workload::kRollout, .workers = static_cast<int>(state.range(0))});
  driver.TakeSeconds();
  for (auto _ : state) {
    driver.Heartbeats();
    state.SetIterationTime(driver.TakeSeconds());
  }
  Count(state, "messages", state.range(0) * static_cast<int64_t>(state.iterations()));
}
BENCHMARK(Heartbeats)
    ->Name("coordinator/heartbeat")
    ->ArgNames({"workers"})
    ->Arg(1)
    ->Arg(64)
    ->UseManualTime();

}  // namespace
}  // namespace warpsmith

BENCHMARK_MAIN();
