#include "tests/simulation/sim_learner.h"

namespace warpsmith::sim {

using std::chrono::milliseconds;

namespace {

constexpr Duration kTurn = milliseconds(100);
constexpr Duration kRepeat = std::chrono::seconds(1);

}  // namespace

void SimLearner::Boot() {
  up_ = true;
  peer_ = "learner-" + std::to_string(++life_);
  registered_ = false;
  incarnation_ = 0;
  register_at_ = heartbeat_at_ = {};
  open_.clear();
  Turn();
}

void SimLearner::Crash(bool lose_newest_checkpoints) {
  up_ = false;
  ++life_;
  open_.clear();
  if (!lose_newest_checkpoints) return;
  for (auto& [id, disk] : disk_) {
    // The end of a run has been told by its last checkpoint; what comes after is no training.
    if (disk.said_trained || disk.checkpoints.size() < 2) continue;
    const PolicyVersion parent = disk.checkpoints.at(disk.newest).parent;
    if (!disk.checkpoints.contains(parent)) continue;
    disk.checkpoints.erase(disk.newest);
    disk.newest = parent;
  }
}

void SimLearner::Turn() {
  if (!up_) return;
  const TimePoint now = world_.clockwork.now();
  if (!registered_) {
    if (now >= register_at_) Register();
  } else {
    if (now >= heartbeat_at_) {
      Say(Heartbeat{});
      heartbeat_at_ = now + milliseconds(250);
    }
    for (auto& [id, run] : open_) Work(id, run);
  }
  world_.clockwork.After(kTurn, [this, life = life_] {
    if (life == life_) Turn();
  });
}

void SimLearner::Register() {
  RegisterLearner message;
  message.name = peer_;
  for (const auto& [id, disk] : disk_)
    message.runs.push_back({id, disk.checkpoints.at(disk.newest).watermark, disk.newest});
  Say(message);
  register_at_ = world_.clockwork.now() + kRepeat;
}

void SimLearner::Hear(const std::string& to, CoordinatorToLearner message) {
  if (!up_ || to != peer_) return;
  std::visit([&](const auto& what) { On(what); }, message);
}

void SimLearner::On(const WelcomeLearner& message) {
  registered_ = true;
  incarnation_ = message.incarnation;
  for (auto& [id, run] : open_) run.say = {};
}

void SimLearner::On(const Refused&) {
  // Its supervisor starts it again.
  Crash(false);
  world_.clockwork.After(kRepeat, [this] {
    if (!up_) Boot();
  });
}

void SimLearner::On(const TrainRun& message) {
  if (!registered_) return;
  const auto known = open_.find(message.run);
  if (known != open_.end() && known->second.order == message) {
    known->second.say = {};
    return;
  }
  RunDisk& disk = disk_[message.run];
  Checkpoint next;
  next.version = {incarnation_, 0};
  if (!disk.checkpoints.empty()) {
    const Checkpoint& last = disk.checkpoints.at(disk.newest);
    next.version.step = last.version.step;
    next.watermark = last.watermark;
    next.ancestors = last.ancestors;
    if (last.version.incarnation != incarnation_) next.ancestors.push_back(last.version);
    next.parent = last.version;
  }
  Open run;
  run.order = message;
  run.line = TrainedLine(next.version, next.ancestors);
  run.batches = std::make_unique<Batches>(message.spec.algorithm, next.watermark);
  // It consumed nothing, so there is nothing to tell of it.
  next.acknowledged = true;
  if (!disk.checkpoints.contains(next.version)) disk.checkpoints[next.version] = next;
  disk.newest = next.version;
  open_[message.run] = std::move(run);
}

void SimLearner::On(const CloseRun& message) {
  const auto run = open_.find(message.run);
  if (run != open_.end()) run->second.end = message.end_seq;
}

void SimLearner::On(const AckCheckpoint& message) {
  const auto disk = disk_.find(message.run);
  if (disk == disk_.end()) return;
  const auto checkpoint = disk->second.checkpoints.find(message.version);
  if (checkpoint != disk->second.checkpoints.end()) checkpoint->second.acknowledged = true;
}

void SimLearner::Work(RunId id, Open& run) {
  const auto stream = world_.streams.find(run.order.stream);
  if (!world_.redis_away && stream != world_.streams.end())
    for (const auto& [seq, trajectory] : stream->second) run.batches->Add(seq, trajectory);

  if (!run.training) {
    auto batch = run.batches->Cut(run.line);
    if (!batch && run.end && run.batches->HasAllBelow(*run.end))
      batch = run.batches->CutRest(run.line);
    if (batch) {
      run.training = true;
      Checkpoint next;
      next.parent = run.line.current();
      next.version = {incarnation_, next.parent.step + 1};
      next.watermark = run.batches->watermark();
      next.consumed = std::move(batch->consumed);
      const Duration time = milliseconds(50 + world_.random.Below(800));
      world_.clockwork.After(time, [this, id, life = life_, next = std::move(next)]() mutable {
        if (life != life_ || !up_) return;
        const auto open = open_.find(id);
        if (open != open_.end()) Write(id, open->second, std::move(next));
      });
    }
  }

  const TimePoint now = world_.clockwork.now();
  if (now < run.say) return;
  run.say = now + kRepeat;
  Say(WeightsAnnouncement{id, run.line.current(), peer_, 100, 10, "hash"});
  RunDisk& disk = disk_.at(id);
  for (const auto& [version, checkpoint] : disk.checkpoints)
    if (!checkpoint.acknowledged && run.line.Contains(version))
      Say(CheckpointDurable{
          id, version, checkpoint.parent, checkpoint.consumed, checkpoint.watermark, {}});
  const bool complete =
      run.end && !run.training && run.batches->pending() == 0 && run.batches->HasAllBelow(*run.end);
  if (complete) {
    disk.said_trained = true;
    Say(RunTrained{id, run.line.current()});
  }
}

void SimLearner::Write(RunId id, Open& run, Checkpoint checkpoint) {
  RunDisk& disk = disk_.at(id);
  checkpoint.ancestors = run.line.ancestors();
  run.line.Advance(checkpoint.version);
  disk.newest = checkpoint.version;
  disk.checkpoints[checkpoint.version] = std::move(checkpoint);
  run.training = false;
  run.say = {};
}

bool SimLearner::Serves(const WeightsAnnouncement& announcement) const {
  const auto run = open_.find(announcement.run);
  return up_ && announcement.endpoint == peer_ && run != open_.end() &&
         run->second.line.Contains(announcement.version);
}

}  // namespace warpsmith::sim
