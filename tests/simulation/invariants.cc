#include "tests/simulation/invariants.h"

namespace warpsmith::sim {

void Invariants::AfterStep(const Coordinator& core, const Effects& effects) {
  Check(core.jobs().Audit(), "submitted = queued + leased + finished + cancelled, job by job");
  Check(core.conservation_error() == 0, "no trajectory is consumed twice");
  Check(core.leases().size() == static_cast<size_t>(core.jobs().counts().leased),
        "a leased job has one lease, and no other has any");
  for (const Effect& effect : effects) {
    Promised(effect);
    const auto* store = std::get_if<StoreRecords>(&effect);
    if (store == nullptr) continue;
    for (const Record& record : store->records) {
      const auto* added = std::get_if<JobAdded>(&record);
      const auto* rollout = added == nullptr ? nullptr : std::get_if<RolloutPlan>(&added->plan);
      // One above: the smallest group is of two.
      if (rollout != nullptr)
        Check(core.runs().at(rollout->run).Capacity() >= -1,
              "no episode is admitted that would be too old when its batch is cut");
    }
  }
  for (const auto& [id, run] : core.runs())
    Check(run.Status().admitted_evaluations <= run.spec().budget_evaluations,
          "a budget is never overdrawn");
}

void Invariants::Promised(const Effect& effect) {
  const Durable& durable = disk_.durable;
  if (const auto* send = std::get_if<SendWorker>(&effect)) {
    if (const auto* ack = std::get_if<AckTrajectory>(&send->message))
      Check(durable.trajectories.contains(ack->id) ||
                durable.ended_groups.contains({ack->id.run, ack->id.group}),
            "a trajectory is acknowledged only when it, or its group's end, is durable");
    if (const auto* ack = std::get_if<AckEvaluation>(&send->message))
      Check(durable.jobs.contains(ack->job), "an evaluation's job is durable");
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
