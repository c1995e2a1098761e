// The checkpoints of one run, in a folder of its own:
//   <version>.safetensors   weights and optimiser, as the trainer wrote them
//   <version>.report        the CheckpointDurable for the coordinator, until it is acknowledged
//   <version>.json          the manifest; written last: a checkpoint exists when its manifest does
//   finished                the run has ended: whoever finds a run of this number again finds
//                           another
// A version is written "incarnation.step". A crash at any byte leaves the checkpoints before it
// whole; a newest one that is broken is set aside, and the one before is used. Not shared among
// threads.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "schema/learner.h"

namespace warpsmith {

struct Checkpoint {
  RunId run;
  PolicyVersion version;
  PolicyVersion parent;
  std::vector<PolicyVersion> ancestors;  // newest version of each earlier incarnation on its line
  TrainingWatermark watermark;           // the trajectories that its weights have passed
  std::string spec_digest;               // of what the RunSpec says; empty: of release 0.1
  std::string sha256;                    // of the weights file; Write fills it in
  uint64_t size_bytes = 0;
};

class CheckpointFolder {
 public:
  // Makes the folder where there is none, sets broken checkpoints aside, and removes what a crash
  // left of unfinished ones.
  static Result<CheckpointFolder> Open(const std::filesystem::path& folder);
  // The folders of runs under `directory` that have not finished.
  static std::vector<std::filesystem::path> OpenRuns(const std::filesystem::path& directory);

  // None: nothing to go on from.
  const std::optional<Checkpoint>& newest() const { return newest_; }
  // What was set aside by Open, for the log.
  const std::vector<std::string>& broken() const { return broken_; }
  bool finished() const;

  // Durable when it returns; then newest() is this one. `save` writes the weights to the path it is
  // given. Without a report nothing is to be told to the coordinator. kExhausted: the disk is full;
  // everything is as before.
  Status Write(Checkpoint checkpoint, const std::function<Status(const std::string& path)>& save,
               const std::optional<CheckpointDurable>& report);
  // The newest weights under a later version, as a new incarnation goes on from them.
  Status Fork(PolicyVersion version, std::vector<PolicyVersion> ancestors);

  // Reports that the coordinator may not have, oldest first.
  std::vector<CheckpointDurable> Unacknowledged() const;
  // Only removes a file: may be called while another thread writes a checkpoint.
  void Acknowledged(const PolicyVersion& version) const;

  // Removes all but the newest `keep`.
  void Prune(size_t keep);
  Status MarkFinished();
  // Renames the folder out of the way.
  Status SetAside();

  std::filesystem::path WeightsPath(const PolicyVersion& version) const;
  const std::filesystem::path& path() const { return folder_; }

 private:
  Result<Checkpoint> Check(const PolicyVersion& version) const;
  std::filesystem::path Path(const PolicyVersion& version, const char* extension) const;

  std::filesystem::path folder_;
  std::vector<PolicyVersion> versions_;  // whole ones, ascending
  std::optional<Checkpoint> newest_;
  std::vector<std::string> broken_;
};

}  // namespace warpsmith
