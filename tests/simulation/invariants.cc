#include "tests/simulation/invariants.h"

namespace warpsmith::sim {

namespace {

// Episodes that the live jobs of a run lack.
int64_t Missing(const Coordinator& core, RunId run) {
  int64_t missing = 0;
  for (JobId job : core.jobs().OfRun(run)) missing += core.jobs().Find(job)->missing;
  return missing;
}

}  // namespace

void Invariants::Admitted(const Coordinator& core, const TrainingRun& run) {
  if (!run.learns()) return;
  const Algorithm& algorithm = run.spec().algorithm;
  std::set<GroupId> live;
  for (JobId job : core.jobs().OfRun(run.id()))
    live.insert(core.jobs().Find(job)->rollout()->group);
  const int64_t ahead =
      Missing(core, run.id()) + run.ledger.Usable(run.line, algorithm.staleness, live);
  // One above: the smallest group is of two.
  Check(ahead <= (int64_t{algorithm.staleness} + 1) * algorithm.batch_episodes + 1,
        "no episode is admitted that would be too old when its batch is cut");
}

void Invariants::AfterStep(const Coordinator& core, TimePoint now, const Effects& effects) {
  LeasesMovedByRight(core, now);
  Check(core.jobs().Audit(), "submitted = queued + leased + finished + cancelled, job by job");
  Check(core.conservation_error() == 0, "no trajectory is consumed twice");
  Check(core.leases().size() == static_cast<size_t>(core.jobs().counts().leased),
        "a leased job has one lease, and no other has any");
  for (const Effect& effect : effects) {
    Promised(core, effect);
    const auto* store = std::get_if<StoreRecords>(&effect);
    if (store == nullptr) continue;
    for (const Record& record : store->records) {
      const auto* added = std::get_if<JobAdded>(&record);
      const auto* rollout = added == nullptr ? nullptr : std::get_if<RolloutPlan>(&added->plan);
      if (rollout != nullptr) Admitted(core, core.runs().at(rollout->run));
    }
  }
  for (const auto& [id, run] : core.runs()) {
    Check(run.Status().admitted_evaluations <= run.spec().budget_evaluations,
          "a budget is never overdrawn");
    Check(run.running_episodes() == Missing(core, id),
          "the episodes that a run counts as running are those that its jobs lack");
  }
}

void Invariants::EveryPartHasAResult() {
  const Durable& durable = disk_.durable;
  for (const auto& [id, masked] : durable.finished_jobs) {
    int64_t parts = 0, done = 0;
    if (const auto* rollout = std::get_if<RolloutPlan>(&durable.plans.at(id))) {
      parts = int64_t{rollout->episodes} * rollout->turns;
      for (uint32_t i = 0; i < rollout->episodes; ++i)
        if (durable.trajectories.contains({rollout->run, rollout->group, i}))
          done += rollout->turns;
    } else {
      const auto& plan = std::get<EvaluationPlan>(durable.plans.at(id));
      parts = static_cast<int64_t>(plan.body.candidates.size());
      for (uint32_t i = 0; i < parts; ++i) done += durable.evaluations.contains({id, i});
    }
    Check(done + masked == parts, "job " + std::to_string(id.value()) +
                                      " is finished, and some part of it is neither stored nor "
                                      "counted as masked");
  }
}

void Invariants::Promised(const Coordinator& core, const Effect& effect) {
  const Durable& durable = disk_.durable;
  if (const auto* send = std::get_if<SendWorker>(&effect)) {
    if (const auto* ack = std::get_if<AckTrajectory>(&send->message))
      Check(durable.trajectories.contains(ack->id) ||
                durable.ended_groups.contains({ack->id.run, ack->id.group}),
            "a trajectory is acknowledged only when it, or its group's end, is durable");
    if (const auto* ack = std::get_if<AckEvaluation>(&send->message))
      Check(durable.evaluations.contains({ack->job, ack->index}) ||
                durable.ended_jobs.contains(ack->job) || unjudged_.contains({ack->job, ack->index}),
            "an evaluation is acknowledged only when it, or its job's end, is durable");
    if (const auto* welcome = std::get_if<WelcomeWorker>(&send->message))
      for (const HeldLease& adopted : welcome->adopted) {
        const Lease* lease = core.leases().Find(adopted.job);
        Check(lease != nullptr && lease->fence == adopted.fence && lease->worker == send->worker,
              "what a worker hears to be adopted is its own lease");
      }
    if (const auto* assign = std::get_if<AssignJob>(&send->message)) {
      Check(durable.granted.contains({assign->job, assign->fence.attempt}),
            "a grant is sent only when it is durable");
      Check(fences_.insert({assign->job, assign->fence}).second, "a fence is given once");
    }
  }
  if (const auto* send = std::get_if<SendLearner>(&effect)) {
    if (const auto* ack = std::get_if<AckCheckpoint>(&send->message))
      Check(durable.checkpoints.contains({ack->run, ack->version}) ||
                durable.ended_runs.contains(ack->run),
            "a checkpoint is acknowledged only when its marks are durable");
    if (const auto* close = std::get_if<CloseRun>(&send->message))
      Check(disk_.image.Stream(close->run, 0, close->end_seq + 1).size() == close->end_seq,
            "a run is closed at the end of its stream");
    if (const auto* welcome = std::get_if<WelcomeLearner>(&send->message))
      Check(durable.incarnations.contains(welcome->incarnation),
            "an incarnation is durable before its learner hears of it");
  }
  if (const auto* answer = std::get_if<AnswerClient>(&effect)) {
    if (const auto* run = std::get_if<RunAccepted>(&answer->answer.reply))
      Check(durable.runs.contains(run->run), "a run is accepted only when it is durable");
    if (const auto* job = std::get_if<JobAccepted>(&answer->answer.reply))
      Check(durable.jobs.contains(job->job), "a job is accepted only when it is durable");
  }
  if (const auto* extend = std::get_if<ExtendStream>(&effect))
    Check(disk_.image.Stream(extend->run, extend->end - 1, 1).size() == 1,
          "a trajectory is published only when it is durable");
}

void Invariants::Loaded(const WorkerId& worker, RunId run, const PolicyVersion& version) {
  PolicyVersion& last = loaded_[{worker, run}];
  Check(version >= last, "a worker's weights never go back");
  last = version;
}

void Invariants::Accepted(const std::string& key, RunId run) {
  Check(keys_.emplace(key, run).first->second == run, "a key names one run for ever");
}

}  // namespace warpsmith::sim
