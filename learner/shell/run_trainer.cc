#include "learner/shell/run_trainer.h"

#include "common/base/check.h"
#include "common/runtime/log.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"

namespace warpsmith {

RunTrainer::RunTrainer(TrainRun order, uint64_t incarnation, std::filesystem::path folder,
                       size_t keep, MakeTrainer make_trainer)
    : order_(std::move(order)),
      incarnation_(incarnation),
      path_(std::move(folder)),
      keep_(keep),
      make_trainer_(std::move(make_trainer)),
      spec_sha256_(Sha256Hex(Encode(order_.spec))) {}

Result<OpenedRun> RunTrainer::Open() {
  ASSIGN_OR_RETURN(TrainerPort trainer, make_trainer_(order_.spec));
  ASSIGN_OR_RETURN(CheckpointFolder folder, CheckpointFolder::Open(path_));
  for (const std::string& why : folder.broken()) LogError("checkpoint_broken", {{"why", why}});

  if (folder.finished()) {  // and so not told of when we registered
    RETURN_IF_ERROR(folder.SetAside());
    ASSIGN_OR_RETURN(folder, CheckpointFolder::Open(path_));
  }
  if (folder.newest() && folder.newest()->spec_sha256 != spec_sha256_) {
    RETURN_IF_ERROR(folder.SetAside());
    return Fail(
        ErrorCode::kCorrupt,
        path_.string() +
            " held checkpoints of another run with this number, and is set "
            "aside; start the learner again, and give each coordinator a learner directory of "
            "its own");
  }

  if (!folder.newest()) {
    Checkpoint first{.run = order_.run, .version = {incarnation_, 0}, .spec_sha256 = spec_sha256_};
    RETURN_IF_ERROR(folder.Write(first, trainer.save, std::nullopt));
  } else {
    const auto weights = folder.WeightsPath(folder.newest()->version);
    if (auto loaded = trainer.load(weights); !loaded)  // whole, and yet of no use to this program
      return Fail(ErrorCode::kInvalidInput, loaded.error().message +
                                                "; its checkpoints are kept in " + path_.string() +
                                                ": submit the run again to train from the start");
    const PolicyVersion found = folder.newest()->version;
    if (found.incarnation != incarnation_) {
      TrainedLine line(found, folder.newest()->ancestors);
      line.Advance({incarnation_, found.step});
      RETURN_IF_ERROR(folder.Fork(line.current(), line.ancestors()));
    }
  }
  folder_ = std::move(folder);
  trainer_ = std::move(trainer);
  folder_->Prune(keep_);
  return OpenedRun{*folder_->newest(), folder_->Unacknowledged()};
}

Result<SavedStep> RunTrainer::Step(const StepJob& job) {
  CHECK(folder_ && trainer_, "a run is opened first");
  if (!trained_ || trained_->first != job.version)
    trained_ = std::pair(job.version, trainer_->step(job.batch.trajectories));

  CheckpointDurable report{.run = order_.run,
                           .version = job.version,
                           .parent = job.line.current(),
                           .consumed = job.batch.consumed,
                           .watermark = job.watermark,
                           .report = trained_->second};
  report.report.step = job.version.step;
  const Checkpoint checkpoint{.run = order_.run,
                              .version = job.version,
                              .parent = job.line.current(),
                              .ancestors = job.line.ancestors(),
                              .watermark = job.watermark,
                              .spec_sha256 = spec_sha256_};
  RETURN_IF_ERROR(folder_->Write(checkpoint, trainer_->save, report));
  trained_.reset();
  folder_->Prune(keep_);
  return SavedStep{*folder_->newest(), std::move(report)};
}

Status RunTrainer::Finish() {
  if (folder_) return folder_->MarkFinished();
  ASSIGN_OR_RETURN(CheckpointFolder unopened, CheckpointFolder::Open(path_));
  return unopened.MarkFinished();
}

}  // namespace warpsmith
