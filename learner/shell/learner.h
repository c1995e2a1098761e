// The learner's loop: registers with the coordinator, trains the runs it is told to train, and
// tells what became of every trajectory. One thread owns it, the transport and the queue; training
// happens where the executor says (a thread of its own, or at once in tests).
//
// For each step, in this order: the checkpoint is durable; its weights are announced; it is
// reported, again and again until acknowledged; the queue is told. Killed anywhere in between, the
// next process goes on from the newest durable checkpoint, and no trajectory is trained twice on
// its line.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/net/transport.h"
#include "common/queue/trajectory_queue.h"
#include "common/runtime/bounded_queue.h"
#include "learner/shell/run_intake.h"
#include "learner/shell/run_trainer.h"
#include "learner/shell/weights_table.h"
#include "schema/coordinator.h"

namespace warpsmith {

struct LearnerOptions {
  std::string name;                           // for people
  std::filesystem::path directory;            // a folder a run below it
  std::string weights_endpoint;               // where workers reach the publisher
  size_t keep = 3;                            // checkpoints a run
  size_t read_limit = 256;                    // trajectories at once
  Duration repeat = std::chrono::seconds(2);  // of what was not answered
};

using MakeQueue =
    std::function<Result<std::unique_ptr<TrajectoryQueue>>(const std::string& address)>;
// Runs the work, now or on another thread; one at a time, in order.
using Executor = std::function<void(std::function<void()> work)>;

class Learner {
 public:
  // References must outlive it, and the executor's work too.
  Learner(LearnerOptions options, Transport& transport, const Clock& clock, WeightsTable& weights,
          MakeQueue make_queue, MakeTrainer make_trainer, Executor executor);
  ~Learner();

  // One turn of the loop: waits up to `wait` for a message, then does what is due. On an error the
  // process must end: the coordinator refuses it for good (kInvalidInput), or was told of a
  // checkpoint that is not its run's (kCorrupt).
  Status Turn(Duration wait);

  // Whether the next turn need not wait: something more can be done at once.
  bool busy() const { return busy_; }

 private:
  struct Run;
  using Work = std::function<void(Run&)>;  // what to do, back on the loop's thread

  Status Handle(const CoordinatorToLearner& message);
  Status On(const WelcomeLearner& message);
  Status On(const Refused& message);
  Status On(const Unknown& message);
  Status On(const HeartbeatReply& message);
  Status On(const TrainRun& message);
  Status On(const CloseRun& message);
  Status On(const AckCheckpoint& message);
  Status On(const ForgetRun& message);
  Status On(const Unrecognized& message);

  // kCorrupt: what was found of this run, and told, cannot be of this coordinator; it is set aside.
  Status CheckFound(RunId run);

  void Register();
  void SayWhatIsDue();
  void Announce(Run& run);
  bool Say(const LearnerMessage& message);

  void Open(Run& run);
  void Advance(Run& run);
  void ReadQueue(Run& run);
  void StartStep(Run& run);
  void OnOpened(Run& run, Result<OpenedRun> opened);
  void OnSaved(Run& run, Result<SavedStep> saved);
  void Offer(Run& run, const Checkpoint& checkpoint);
  // Runs `work` on the executor and then what it returns on this thread, if the run is still there.
  void Submit(Run& run, std::function<Work(RunTrainer&)> work);
  std::filesystem::path FolderOf(RunId run) const;

  const LearnerOptions options_;
  Transport& transport_;
  const Clock& clock_;
  WeightsTable& weights_;
  MakeQueue make_queue_;
  MakeTrainer make_trainer_;
  Executor executor_;

  std::vector<LearnerRunState> found_;  // in the directory, when this process started
  std::optional<WelcomeLearner> welcome_;
  bool registered_ = false;
  TimePoint next_register_{};
  TimePoint next_heartbeat_{};
  std::unique_ptr<TrajectoryQueue> queue_;
  bool queue_ok_ = true;
  TimePoint next_queue_attempt_{};  // while it is not
  std::map<RunId, std::unique_ptr<Run>> runs_;
  uint64_t next_order_ = 1;
  bool busy_ = false;
  Status fatal_;

  struct Finished {
    RunId run;
    uint64_t order;
    Work work;
  };
  // Shared with work that outlives this object.
  std::shared_ptr<BoundedQueue<Finished>> finished_;
};

}  // namespace warpsmith
