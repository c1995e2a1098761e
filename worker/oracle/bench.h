// What the phases of one evaluation share. Not shared among threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/base/random.h"
#include "schema/child.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/case_judge.h"
#include "worker/oracle/runner_link.h"

namespace warpsmith {

// Where an evaluation's time goes, by words like "fill_ms": for the log at its finest level. What a
// device is told to do but not waited for counts where the wait is.
using PartTimes = std::vector<std::pair<std::string, double>>;

struct Bench {
  OracleDevice& device;
  RunnerLink& runner;
  KnownTask& known;
  const CompiledCandidate& compiled;
  Random random;  // from a secret seed of this evaluation; content is drawn from it
  std::vector<StageTime>& stages;
  PartTimes& parts;

  const Case& case_at(size_t index) const {
    return CasesOf(known.task(), device.facts().kind)[index];
  }
};

// Adds the time from its making to its end to a stage's.
class StageClock {
 public:
  StageClock(std::vector<StageTime>& stages, Stage stage)
      : stages_(stages), stage_(stage), began_(std::chrono::steady_clock::now()) {}
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  ~StageClock();

 private:
  std::vector<StageTime>& stages_;
  Stage stage_;
  TimePoint began_;
};

// Adds the time from its making to its end to a part's.
class PartClock {
 public:
  PartClock(PartTimes& parts, const char* part)
      : parts_(parts), part_(part), began_(std::chrono::steady_clock::now()) {}
  PartClock(const PartClock&) = delete;
  PartClock& operator=(const PartClock&) = delete;
  ~PartClock();

 private:
  PartTimes& parts_;
  const char* part_;
  TimePoint began_;
};

// The plan for one case, or how the evaluation ends: Rejected, ResourceError (also where the plan's
// temps are what the device's memory lacks room for), and Infrastructure where it lacks room for
// the task's own buffers.
std::variant<ResolvedPlan, Outcome> PlanFor(Bench& bench, size_t case_index);

// Loads the binary anew, with all its globals as they were.
Ending Load(Bench& bench, const ResolvedPlan& plan);
// Lends a set to the runner.
Ending Lend(Bench& bench, Stage stage, const BufferSet& set);

}  // namespace warpsmith
