// What the store costs: SqliteStore, given the batches that a coordinator's core makes.
//
//   store/evaluation_jobs/jobs:N/window:W   N jobs of one candidate through their lives
//   store/rollout/episodes:N/window:W       a run's jobs, with N episodes of 4 turns together
//   store/open/...                          a start: opening the file, a new epoch, reading the
//   image
//                                           of jobs that have all ended
//   store/floor/commit                      a transaction that changes one number: what a sync
//   costs store/floor/rollout/episodes:N/window:W the episodes' encoded bytes alone, a row each in
//   a table
//                                           without an index, W a transaction
//
// W: at most so many batches wait for the disk; 1 is a sync for each, 64 is where the coordinator
// admits nothing more. Time is wall time with every sync in it, CPU is the whole process, the
// writer's thread included. Files lie under TMPDIR. Counters, an iteration: `jobs`, `results`,
// `evaluations`, `records`; `bytes` of the database when all is written.
#include <benchmark/benchmark.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "benchmarks/core_driver.h"
#include "benchmarks/fixtures.h"
#include "common/base/check.h"
#include "common/runtime/files.h"
#include "common/wire/codec.h"
#include "coordinator/shell/sqlite.h"
#include "coordinator/shell/sqlite_store.h"

namespace warpsmith {
namespace {

template <typename T>
T Must(Result<T> result) {
  CHECK(result.has_value(), result.error().message);
  return std::move(*result);
}
void Must(const Status& status) { CHECK(status.has_value(), status.error().message); }

TempDirectory Folder() { return Must(TempDirectory::Make("warpsmith-benchmark")); }

// What a core gave its store until it had so many results.
struct Tape {
  std::vector<StoreRecords> batches;
  int64_t jobs = 0;
  int64_t results = 0;
  int64_t evaluations = 0;
  int64_t records = 0;
};

const Tape& TapeOf(Workload workload, int64_t results) {
  static std::map<std::pair<Workload, int64_t>, Tape> tapes;
  Tape& tape = tapes[{workload, results}];
  if (!tape.batches.empty()) return tape;
  CoreDriver driver({.workload = workload, .capacity = 4, .keep_batches = true});
  while (driver.results() < results) driver.Wave();
  tape = {std::move(driver.batches()), driver.jobs(), driver.results(), driver.evaluations(), 0};
  for (const StoreRecords& batch : tape.batches)
    tape.records += static_cast<int64_t>(batch.records.size());
  return tape;
}

// A store, and how far it has come.
class Writing {
 public:
  explicit Writing(const std::filesystem::path& directory)
      : store_(Must(SqliteStore::Open(directory, {}))) {
    Must(store_->BeginEpoch());
    store_->Start({.stored = [this](Stored stored) { Reached(stored.batch); },
                   .health = [](const StoreHealth& health) { CHECK(health.ok, health.problem); },
                   .answered = [](const ClientId&, const ClientAnswer&) {}});
  }

  void WriteAll(std::vector<StoreRecords> batches, uint64_t window) {
    const uint64_t last = batches.back().batch;
    for (StoreRecords& batch : batches) {
      if (batch.batch > window) WaitFor(batch.batch - window);
      store_->Write(std::move(batch));
    }
    WaitFor(last);
  }

 private:
  void Reached(uint64_t batch) {
    {
      std::lock_guard lock(mutex_);
      stored_ = batch;
    }
    wake_.notify_all();
  }
  void WaitFor(uint64_t batch) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stored_ >= batch; });
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  uint64_t stored_ = 0;
  std::unique_ptr<SqliteStore> store_;  // last: its threads end before what they report to
};

int64_t BytesUnder(const std::filesystem::path& directory) {
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    bytes += static_cast<int64_t>(entry.file_size());
  return bytes;
}

void Count(benchmark::State& state, const Tape& tape) {
  state.counters["jobs"] = static_cast<double>(tape.jobs);
  state.counters["results"] = static_cast<double>(tape.results);
  state.counters["evaluations"] = static_cast<double>(tape.evaluations);
  state.counters["records"] = static_cast<double>(tape.records);
}

void Write(benchmark::State& state, Workload workload) {
  const Tape& tape = TapeOf(workload, state.range(0));
  int64_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<TempDirectory> folder = Folder();
    auto writing = std::make_unique<Writing>(folder->path());
    auto batches = tape.batches;
    state.ResumeTiming();
    writing->WriteAll(std::move(batches), static_cast<uint64_t>(state.range(1)));
    state.PauseTiming();
    writing.reset();  // the journal goes into the file
    bytes = BytesUnder(folder->path());
    folder.reset();
    state.ResumeTiming();
  }
  Count(state, tape);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void EvaluationJobs(benchmark::State& state) { Write(state, Workload::kEvaluationJobs); }
BENCHMARK(EvaluationJobs)
    ->Name("store/evaluation_jobs")
    ->ArgNames({"jobs", "window"})
    ->Args({64, 1})
    ->Args({1024, 64})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void Rollout(benchmark::State& state) { Write(state, Workload::kRollout); }
BENCHMARK(Rollout)
    ->Name("store/rollout")
    ->ArgNames({"episodes", "window"})
    ->Args({64, 1})
    ->Args({512, 64})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// Made once: a benchmark is called several times until it has run for long enough.
const std::filesystem::path& WrittenStore(Workload workload, const Tape& tape) {
  static std::map<std::pair<Workload, int64_t>, TempDirectory> folders;
  const auto [found, made] = folders.try_emplace({workload, tape.results});
  if (made) {
    found->second = Folder();
    Writing(found->second.path()).WriteAll(tape.batches, 64);
  }
  return found->second.path();
}

void Open(benchmark::State& state, Workload workload) {
  const Tape& tape = TapeOf(workload, state.range(0));
  const std::filesystem::path& folder = WrittenStore(workload, tape);
  for (auto _ : state) {
    auto store = Must(SqliteStore::Open(folder, {}));
    const Snapshot snapshot = Must(store->BeginEpoch());
    CHECK(snapshot.counts.finished == tape.jobs, "the image has every job");
    benchmark::DoNotOptimize(snapshot);
  }
  Count(state, tape);
}

void OpenEvaluationJobs(benchmark::State& state) { Open(state, Workload::kEvaluationJobs); }
BENCHMARK(OpenEvaluationJobs)
    ->Name("store/open/evaluation_jobs")
    ->ArgName("jobs")
    ->Arg(1024)
    ->Arg(4096)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void OpenRollout(benchmark::State& state) { Open(state, Workload::kRollout); }
BENCHMARK(OpenRollout)
    ->Name("store/open/rollout")
    ->ArgName("episodes")
    ->Arg(512)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

// ---- floors

std::unique_ptr<Database> PlainDatabase(const TempDirectory& folder) {
  auto database = Must(Database::Open((folder.path() / "floor.sqlite").string(), false));
  Must(
      database->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                        "CREATE TABLE rows (place INTEGER PRIMARY KEY, payload BLOB NOT NULL)"));
  return database;
}

void FloorCommit(benchmark::State& state) {
  const TempDirectory folder = Folder();
  const auto database = PlainDatabase(folder);
  Must(database->Run("INSERT INTO rows VALUES (0, 0)"));
  for (auto _ : state) Must(database->Run("UPDATE rows SET payload = payload + 1"));
}
BENCHMARK(FloorCommit)->Name("store/floor/commit")->MeasureProcessCPUTime()->UseRealTime();

void FloorRollout(benchmark::State& state) {
  const Tape& tape = TapeOf(Workload::kRollout, state.range(0));
  const int64_t window = state.range(1);
  std::vector<std::string> payloads;
  for (const StoreRecords& batch : tape.batches)
    for (const Record& record : batch.records)
      if (const auto* accepted = std::get_if<TrajectoryAccepted>(&record))
        payloads.push_back(Encode(accepted->trajectory));
  for (auto _ : state) {
    state.PauseTiming();
    std::optional<TempDirectory> folder = Folder();
    auto database = PlainDatabase(*folder);
    state.ResumeTiming();
    for (size_t i = 0; i < payloads.size(); ++i) {
      if (i % static_cast<size_t>(window) == 0) Must(database->Execute("BEGIN IMMEDIATE"));
      Must(database->Run("INSERT INTO rows (payload) VALUES (?)", Blob{payloads[i]}));
      if ((i + 1) % static_cast<size_t>(window) == 0 || i + 1 == payloads.size())
        Must(database->Execute("COMMIT"));
    }
    state.PauseTiming();
    database.reset();
    folder.reset();
    state.ResumeTiming();
  }
  Count(state, tape);
}
BENCHMARK(FloorRollout)
    ->Name("store/floor/rollout")
    ->ArgNames({"episodes", "window"})
    ->Args({512, 64})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

}  // namespace
}  // namespace warpsmith

BENCHMARK_MAIN();
