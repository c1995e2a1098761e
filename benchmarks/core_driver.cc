#include "benchmarks/core_driver.h"

#include <time.h>

#include <utility>

#include "benchmarks/fixtures.h"
#include "common/base/check.h"

namespace warpsmith {
namespace {

const ClientId kClient("client");
const char* const kLearner = "learner";
const RunId kRun(1);  // the only one

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Snapshot FirstLife() {
  Snapshot snapshot;
  snapshot.epoch = 1;
  snapshot.cluster = "benchmark";
  return snapshot;
}

}  // namespace

CoreDriver::CoreDriver(Options options)
    : options_(options), core_(CoordinatorSettings{}, FirstLife(), now_) {
  const int64_t held = int64_t{options_.workers} * options_.capacity;
  std::vector<Event> events;
  if (options_.workload == Workload::kEvaluationJobs) {
    events = Submissions(held + options_.backlog);
  } else {
    const bool learns = options_.workload == Workload::kLearning;
    if (learns) {
      events.push_back(LearnerSaid{kLearner, RegisterLearner{}});
      events.push_back(LearnerSaid{kLearner, Heartbeat{}});
    }
    events.push_back(ClientAsked{
        kClient, {++submissions_, SubmitRun{"run", StarterRun(learns ? "grammar" : "random")}}});
  }
  for (int i = 0; i < options_.workers; ++i) {
    workers_.push_back(WorkerId("worker-" + std::to_string(i)));
    RegisterWorker offer;
    offer.name = workers_.back().value();
    offer.devices = {GpuFacts()};
    offer.policies = {"random", "grammar"};
    offer.capacity = options_.capacity;
    events.push_back(WorkerSaid{workers_.back(), std::move(offer)});
  }
  Step(std::move(events));
  CHECK(static_cast<int64_t>(assigned_.size()) == held, "every worker holds all that it wants");
}

std::vector<Event> CoreDriver::Submissions(int64_t count) {
  std::vector<Event> events;
  for (int64_t i = 0; i < count; ++i) {
    ++submissions_;
    EvaluationJob job{StarterTask(), {StarterTask().starter}, Depth::kMeasure};
    events.push_back(ClientAsked{
        kClient,
        {submissions_,
         SubmitEvaluation{"key-" + std::to_string(submissions_), std::move(job), "auto"}}});
  }
  return events;
}

void CoreDriver::AppendResults(const Assigned& assigned, std::vector<Event>& events) {
  const AssignJob& job = assigned.job;
  if (const auto* rollout = std::get_if<RolloutJob>(&job.body)) {
    for (const uint32_t episode : rollout->episodes) {
      Trajectory trajectory = GpuTrajectory({rollout->run, rollout->group, episode}, rollout->task,
                                            rollout->turns, rollout->min_version);
      evaluations_ += static_cast<int64_t>(trajectory.turns.size());
      ++results_;
      events.push_back(
          WorkerSaid{assigned.worker, TrajectoryResult{job.job, job.fence, std::move(trajectory)}});
    }
  } else {
    const auto& evaluation = std::get<EvaluationJob>(job.body);
    for (uint32_t index = 0; index < evaluation.candidates.size(); ++index) {
      ++evaluations_;
      ++results_;
      events.push_back(WorkerSaid{
          assigned.worker, EvaluationResult{job.job, job.fence, index,
                                            GpuEvaluation(evaluation.task, job.job.value())}});
    }
  }
  ++jobs_;
}

// A checkpoint that holds the newest results, its weights, and workers that have loaded them.
void CoreDriver::AppendLearnerStep(int64_t results, std::vector<Event>& events) {
  const PolicyVersion parent = version_;
  version_ = {1, parent.step + 1};
  CheckpointDurable checkpoint{kRun, version_, parent, {}, {}, {}};
  for (int64_t i = 0; i < results; ++i)
    checkpoint.consumed.push_back({learner_place_++, Fate::kTrained});
  checkpoint.watermark.below = learner_place_;
  checkpoint.report.step = version_.step;
  WeightsAnnouncement weights{kRun, version_, "tcp://10.0.0.7:5801", 180'000, 65'536, ""};
  events.push_back(LearnerSaid{kLearner, std::move(checkpoint)});
  events.push_back(LearnerSaid{kLearner, std::move(weights)});
  for (const WorkerId& worker : workers_)
    events.push_back(WorkerSaid{worker, WeightsInUse{kRun, version_}});
}

void CoreDriver::Wave() {
  std::vector<Event> events;
  const std::vector<Assigned> assigned = std::exchange(assigned_, {});
  const int64_t results = results_;
  if (options_.workload == Workload::kEvaluationJobs)
    events = Submissions(static_cast<int64_t>(assigned.size()));
  for (const Assigned& one : assigned) AppendResults(one, events);
  if (options_.workload == Workload::kLearning) AppendLearnerStep(results_ - results, events);
  Step(std::move(events));
  CHECK(assigned_.size() == assigned.size(), "who ends a job gets another");
  CHECK(acknowledged_ == results_, "every result is acknowledged");
  CHECK(core_.jobs().counts().finished == jobs_, "every job ends");
  CHECK(core_.conservation_error() == 0, "nothing is lost or consumed twice");
}

void CoreDriver::Heartbeats() {
  std::vector<Event> events;
  for (const WorkerId& worker : workers_) events.push_back(WorkerSaid{worker, Heartbeat{}});
  Step(std::move(events));
}

void CoreDriver::Step(std::vector<Event> events) {
  const double start = ThreadSeconds();
  std::vector<Event> then;
  for (Event& event : events) {
    Obey(core_.Step(now_, std::move(event)), then);
    while (!then.empty()) {
      Event next = std::move(then.back());
      then.pop_back();
      Obey(core_.Step(now_, std::move(next)), then);
    }
  }
  seconds_ += ThreadSeconds() - start;
}

void CoreDriver::Obey(Effects effects, std::vector<Event>& then) {
  for (Effect& effect : effects) {
    if (auto* store = std::get_if<StoreRecords>(&effect)) {
      then.push_back(Stored{store->batch});
      if (options_.keep_batches) batches_.push_back(std::move(*store));
    } else if (auto* send = std::get_if<SendWorker>(&effect)) {
      if (auto* job = std::get_if<AssignJob>(&send->message))
        assigned_.push_back({std::move(send->worker), std::move(*job)});
      else if (std::holds_alternative<AckTrajectory>(send->message) ||
               std::holds_alternative<AckEvaluation>(send->message))
        ++acknowledged_;
    }
  }
}

double CoreDriver::TakeSeconds() { return std::exchange(seconds_, 0); }

}  // namespace warpsmith
