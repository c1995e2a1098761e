// The training side of one run: weights that move from durable checkpoint to durable checkpoint.
// Used by one thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "learner/core/batches.h"
#include "learner/shell/checkpoints.h"
#include "schema/learner.h"

namespace warpsmith {

// What is needed of a trainer (learner/torch/trainer.h): its own contract says what each call does.
struct TrainerPort {
  std::function<StepReport(std::span<const Trajectory>)> step;
  std::function<Status(const std::string& path)> load;
  std::function<Status(const std::string& path)> save;
};
using MakeTrainer = std::function<Result<TrainerPort>(const RunSpec&)>;

struct OpenedRun {
  Checkpoint checkpoint;                          // durable: where the run goes on
  std::vector<CheckpointDurable> unacknowledged;  // told again, of this and of earlier lives
};

struct StepJob {
  Batch batch;
  PolicyVersion version;  // of the weights that come out
  TrainedLine line;       // that they grow on
  TrainingWatermark watermark;
};

struct SavedStep {
  Checkpoint checkpoint;
  CheckpointDurable report;
};

class RunTrainer {
 public:
  RunTrainer(TrainRun order, uint64_t incarnation, std::filesystem::path folder, size_t keep,
             MakeTrainer make_trainer);

  // Loads the newest checkpoint, or makes the first one; under this incarnation, durably.
  // kInvalidInput: the policy cannot be trained, and trying again changes nothing. kCorrupt: this
  // process must end. The folder held another run of this number, whose watermark the coordinator
  // was told, and is out of the way now; or a later process uses it. Anything else, such as what
  // the file system refuses, may pass.
  Result<OpenedRun> Open();

  // Trains once and writes the checkpoint. When only the writing fails (kExhausted), the same job
  // may be given again and is not trained again.
  Result<SavedStep> Step(const StepJob& job);

  // After Open.
  const CheckpointFolder& folder() const { return *folder_; }
  // The run has ended: its folder is not opened again.
  Status Finish();

 private:
  TrainRun order_;
  uint64_t incarnation_;
  std::filesystem::path path_;
  size_t keep_;
  MakeTrainer make_trainer_;
  std::string spec_digest_;
  std::optional<CheckpointFolder> folder_;
  std::optional<TrainerPort> trainer_;
  std::optional<std::pair<PolicyVersion, StepReport>> trained_;  // not saved yet
};

}  // namespace warpsmith
