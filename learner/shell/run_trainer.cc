#include "learner/shell/run_trainer.h"

#include "common/base/check.h"
#include "common/model/known.h"
#include "common/runtime/log.h"
#include "common/runtime/sha256.h"
#include "common/wire/meaning.h"

namespace warpsmith {
namespace {

// A disk that is read-only or not ours today says nothing about the run.
tl::unexpected<Error> OfFiles(Error error) {
  if (error.code == ErrorCode::kInvalidInput) error.code = ErrorCode::kUnavailable;
  return tl::unexpected(std::move(error));
}

}  // namespace

RunTrainer::RunTrainer(TrainRun order, uint64_t incarnation, std::filesystem::path folder,
                       size_t keep, MakeTrainer make_trainer)
    : order_(std::move(order)),
      incarnation_(incarnation),
      path_(std::move(folder)),
      keep_(keep),
      make_trainer_(std::move(make_trainer)),
      spec_digest_(Sha256Hex(MeaningText(order_.spec))) {}

Result<OpenedRun> RunTrainer::Open() {
  RETURN_IF_ERROR(CheckKnown(order_.spec));
  ASSIGN_OR_RETURN(TrainerPort trainer, make_trainer_(order_.spec));
  auto opened = CheckpointFolder::Open(path_);
  if (!opened) return OfFiles(opened.error());
  CheckpointFolder folder = std::move(*opened);
  for (const std::string& why : folder.broken()) LogError("checkpoint_broken", {{"why", why}});

  if (folder.finished()) {  // and so not told of when we registered
    RETURN_IF_ERROR(folder.SetAside());
    opened = CheckpointFolder::Open(path_);
    if (!opened) return OfFiles(opened.error());
    folder = std::move(*opened);
  }
  if (folder.newest() && folder.newest()->version.incarnation > incarnation_)
    return Fail(ErrorCode::kCorrupt,
                path_.string() +
                    " holds checkpoints of a later learner than this one: stop this one, and give "
                    "each learner a directory of its own");
  // A checkpoint of release 0.1 has no digest that still could be compared; that its incarnation is
  // of this coordinator's line was looked at before.
  const std::string found_digest = folder.newest() ? folder.newest()->spec_digest : "";
  if (!found_digest.empty() && found_digest != spec_digest_) {
    RETURN_IF_ERROR(folder.SetAside());
    return Fail(
        ErrorCode::kCorrupt,
        path_.string() +
            " held checkpoints of another run with this number, and is set "
            "aside; start the learner again, and give each coordinator a learner directory of "
            "its own");
  }

  if (!folder.newest()) {
    Checkpoint first{.run = order_.run, .version = {incarnation_, 0}, .spec_digest = spec_digest_};
    if (auto written = folder.Write(first, trainer.save, std::nullopt); !written)
      return OfFiles(written.error());
  } else {
    const auto weights = folder.WeightsPath(folder.newest()->version);
    if (auto loaded = trainer.load(weights); !loaded) {
      const ErrorCode code = loaded.error().code;
      if (code != ErrorCode::kInvalidInput && code != ErrorCode::kCorrupt)
        return tl::unexpected(loaded.error());
      // Whole, and yet of no use to this program.
      return Fail(ErrorCode::kInvalidInput, loaded.error().message +
                                                "; its checkpoints are kept in " + path_.string() +
                                                ": submit the run again to train from the start");
    }
    const PolicyVersion found = folder.newest()->version;
    if (found.incarnation != incarnation_) {
      TrainedLine line(found, folder.newest()->ancestors);
      line.Advance({incarnation_, found.step});
      if (auto forked = folder.Fork(line.current(), line.ancestors()); !forked)
        return OfFiles(forked.error());
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
                              .spec_digest = spec_digest_};
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
