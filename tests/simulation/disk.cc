#include "tests/simulation/disk.h"

namespace warpsmith::sim {

void Durable::Learn(const Record& record) {
  if (const auto* run = std::get_if<RunAdded>(&record)) runs.insert(run->run);
  if (const auto* run = std::get_if<RunChanged>(&record))
    if (run->state != RunState::kRunning && run->state != RunState::kFinishing)
      ended_runs.insert(run->run);
  if (const auto* job = std::get_if<JobAdded>(&record)) {
    jobs.insert(job->job);
    plans[job->job] = job->plan;
  }
  if (const auto* job = std::get_if<JobChanged>(&record)) {
    if (job->state == JobState::kLeased) granted.insert({job->job, job->attempt});
    if (job->state == JobState::kFinished) finished_jobs[job->job] = job->masked_evaluations;
    if (job->state == JobState::kFinished || job->state == JobState::kCancelled) {
      ended_jobs.insert(job->job);
      if (const auto* rollout = std::get_if<RolloutPlan>(&plans.at(job->job)))
        ended_groups.insert({rollout->run, rollout->group});
    }
  }
  if (const auto* trajectory = std::get_if<TrajectoryAccepted>(&record))
    trajectories.insert(trajectory->trajectory.id);
  if (const auto* evaluation = std::get_if<EvaluationAccepted>(&record))
    evaluations.insert({evaluation->job, evaluation->index});
  if (const auto* learner = std::get_if<LearnerRegistered>(&record))
    incarnations.insert(learner->incarnation);
  if (const auto* checkpoint = std::get_if<CheckpointRecorded>(&record))
    checkpoints.insert({checkpoint->checkpoint.run, checkpoint->checkpoint.version});
}

void Disk::Write(StoreRecords batch) {
  waiting_.push_back(std::move(batch));
  if (!busy_ && !full_) Begin();
}

void Disk::Begin() {
  busy_ = true;
  const size_t batches = waiting_.size();  // one transaction for all that is there
  const Duration sync = std::chrono::microseconds(500 + random_.Below(10'000));
  clockwork_.After(sync, [this, batches, life = life_] {
    if (life != life_) return;
    busy_ = false;
    if (full_) return;  // it filled up meanwhile: tried again when there is room
    Commit(batches);
    if (!waiting_.empty()) Begin();
  });
}

void Disk::Commit(size_t batches) {
  uint64_t last = 0;
  for (size_t i = 0; i < batches; ++i) {
    image.Apply(waiting_.front().records);
    for (const Record& record : waiting_.front().records) durable.Learn(record);
    last = waiting_.front().batch;
    waiting_.pop_front();
  }
  // The word of it takes its own time: a crash can come between.
  clockwork_.After(std::chrono::microseconds(random_.Below(2000)), [this, last, life = life_] {
    if (life == life_) stored(Stored{last});
  });
}

void Disk::Full(bool full) {
  if (full == full_) return;
  full_ = full;
  if (health) health({!full, full ? "disk full" : ""});
  if (!full && !busy_ && !waiting_.empty()) Begin();
}

void Disk::Crash() {
  if (busy_ && !full_ && random_.Chance(0.5)) {
    const size_t batches = random_.Below(waiting_.size() + 1);
    if (batches > 0) Commit(batches);
  }
  ++life_;
  waiting_.clear();
  busy_ = false;
  stored = nullptr;
  health = nullptr;
}

}  // namespace warpsmith::sim
