// The real Evaluator: candidates are compiled in sandboxed compiler children and judged by an
// oracle child with its runner children, one lane a device. Used by the worker and by `warpsmith
// eval`.
//
// Threads: Submit and Devices from any thread; `done` is called on a compiler's or a lane's thread
// and must not block. Destruction ends every child process, and calls what is still waiting with
// Infrastructure(worker_lost).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "worker/device/evaluator.h"

namespace warpsmith {

// Where the children's programs are; the defaults stand beside the running program.
struct ChildPrograms {
  std::filesystem::path compiler;  // warpsmith-compiler
  std::filesystem::path oracle;    // warpsmith-oracle
  std::filesystem::path runner;    // warpsmith-runner

  static ChildPrograms Installed();
};

// What bounds a child; waiting is never charged to a candidate.
struct EvaluationLimits {
  Duration compile = std::chrono::seconds(12);
  int compiler_uses = 500;            // requests before a compiler is replaced
  size_t cache_bytes = 256ull << 20;  // compiled candidates kept in memory
  size_t log_bytes = 64 << 10;        // of compiler's and program's output in a record
  Duration oracle_start = std::chrono::seconds(90);
  Duration runner_start = std::chrono::seconds(30);
  Duration oracle_silence = std::chrono::seconds(180);  // outside stages; then it is hung
  int deaths_to_quarantine = 3;  // of oracles in a row, without an evaluation between
  Duration restart_backoff = std::chrono::milliseconds(100);  // doubles with each death
  Duration quarantine = std::chrono::seconds(60);
  Duration death = std::chrono::seconds(10);  // what SIGKILL may take; past it the device is held
};

struct ProcessEvaluatorOptions {
  std::string device = "auto";              // auto, cuda, host: auto takes every GPU, else the host
  int compilers = 0;                        // 0: one for each core that no lane owns, at most 8
  std::filesystem::path log_directory;      // children's stderr; empty: this process's stderr
  std::filesystem::path scratch_directory;  // compilers' private folders; empty: the system's
  ChildPrograms programs = ChildPrograms::Installed();
  EvaluationLimits limits;
};

class ProcessEvaluator : public Evaluator {
 public:
  using Options = ProcessEvaluatorOptions;

  // Waits until each lane's oracle is up. kMissing: no such device here, with the reason that its
  // oracle gave; kInvalidInput: an unknown device word.
  static Result<std::unique_ptr<ProcessEvaluator>> Start(Options options);
  ~ProcessEvaluator() override;

  std::vector<DeviceFacts> Devices() const override;
  void Submit(EvaluationOrder order, std::function<void(Evaluation)> done) override;

  // Process ids of all children alive now, for tests and diagnosis.
  std::vector<int> ChildPids() const;

 private:
  struct Impl;
  explicit ProcessEvaluator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpsmith
