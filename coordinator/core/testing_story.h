// A coordinator's core to tell stories with: a hand-cranked clock, a store that becomes durable
// when told to, and peers that say what a test lets them say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/core/coordinator.h"
#include "coordinator/core/store_image.h"
#include "coordinator/core/testing.h"

namespace warpsmith {

using std::chrono::seconds;

inline const WorkerId kAnna("anna");
inline const WorkerId kBert("bert");

class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() { Start(); }

  void Start() {
    settings.lease = seconds(10);
    settings.torpid = seconds(4);
    settings.dead = seconds(10);
    settings.max_failures = 3;
    pending.clear();
    core.emplace(settings, image.BeginEpoch(), now);
  }
  // kill -9: what was not durable is gone.
  void Restart() { Start(); }

  void Do(Event event) {
    std::vector<Event> todo{std::move(event)};
    while (!todo.empty()) {
      Event next = std::move(todo.back());
      todo.pop_back();
      for (Effect& effect : core->Step(now, std::move(next))) {
        if (auto* store = std::get_if<StoreRecords>(&effect)) {
          pending.push_back(std::move(*store));
          if (store_works) todo.push_back(MakeDurable());
        } else {
          done.push_back(std::move(effect));
        }
      }
    }
  }
  Stored MakeDurable() {
    uint64_t batch = 0;
    for (StoreRecords& records : pending) {
      image.Apply(records.records);
      batch = records.batch;
    }
    pending.clear();
    return Stored{batch};
  }
  void StoreCatchesUp() {
    store_works = true;
    Do(MakeDurable());
  }
  void Pass(Duration time) {
    const TimePoint end = now + time;
    while (true) {
      const auto next = core->NextDeadline();
      if (!next || *next > end) break;
      now = std::max(now, *next);
      Do(TimePassed{});
    }
    now = end;
    Do(TimePassed{});
  }

  void Registers(const WorkerId& worker, uint32_t capacity = 1, std::vector<HeldLease> held = {}) {
    RegisterWorker offer;
    DeviceFacts facts;
    facts.kind = DeviceKind::kHost;
    offer.devices = {facts};
    offer.policies = {"random", "grammar"};
    offer.capacity = capacity;
    offer.held = std::move(held);
    Do(WorkerSaid{worker, offer});
  }
  void Says(const WorkerId& worker, WorkerMessage message) {
    Do(WorkerSaid{worker, std::move(message)});
  }
  void LearnerSays(const std::string& peer, LearnerMessage message) {
    Do(LearnerSaid{peer, std::move(message)});
  }
  // A learner process starts: registers, and shows that it is alive.
  void LearnerJoins(const std::string& peer, RegisterLearner registration = {}) {
    LearnerSays(peer, std::move(registration));
    LearnerSays(peer, Heartbeat{});
  }
  RunId Submit(RunSpec spec, const std::string& key = "key") {
    const auto reply = Ask(SubmitRun{key, std::move(spec)});
    return std::get<RunAccepted>(reply).run;
  }
  ClientReply Ask(ClientRequest request) {
    Do(ClientAsked{ClientId("client"), {1, std::move(request)}});
    for (auto effect = done.rbegin(); effect != done.rend(); ++effect)
      if (auto* answer = std::get_if<AnswerClient>(&*effect)) return answer->answer.reply;
    ADD_FAILURE() << "no answer";
    return RequestFailed{};
  }
  RunStatus StatusOf(RunId run) { return std::get<RunStatus>(Ask(GetRun{run})); }

  // Takes everything of one kind that was sent to this worker out of what was done.
  template <typename Message>
  std::vector<Message> Heard(const WorkerId& worker) {
    std::vector<Message> heard;
    std::erase_if(done, [&](Effect& effect) {
      auto* send = std::get_if<SendWorker>(&effect);
      if (send == nullptr || send->worker != worker) return false;
      auto* message = std::get_if<Message>(&send->message);
      if (message == nullptr) return false;
      heard.push_back(std::move(*message));
      return true;
    });
    return heard;
  }
  template <typename Message>
  std::vector<Message> LearnerHeard(const std::string& peer) {
    std::vector<Message> heard;
    std::erase_if(done, [&](Effect& effect) {
      auto* send = std::get_if<SendLearner>(&effect);
      if (send == nullptr || send->peer != peer) return false;
      auto* message = std::get_if<Message>(&send->message);
      if (message == nullptr) return false;
      heard.push_back(std::move(*message));
      return true;
    });
    return heard;
  }
  template <typename What>
  std::vector<What> Done() {
    std::vector<What> found;
    std::erase_if(done, [&](Effect& effect) {
      auto* what = std::get_if<What>(&effect);
      if (what == nullptr) return false;
      found.push_back(std::move(*what));
      return true;
    });
    return found;
  }
  AssignJob Assigned(const WorkerId& worker) {
    auto jobs = Heard<AssignJob>(worker);
    if (jobs.size() == 1) return jobs[0];
    ADD_FAILURE() << worker.value() << " was assigned " << jobs.size() << " jobs, not one";
    return {};
  }
  static TrajectoryResult Result(const AssignJob& job, uint32_t episode,
                                 PolicyVersion version = {}) {
    const auto& rollout = std::get<RolloutJob>(job.body);
    return {job.job, job.fence,
            MakeTrajectory({rollout.run, rollout.group, episode}, rollout.task.id, rollout.turns,
                           version)};
  }
  void Finishes(const WorkerId& worker, const AssignJob& job, PolicyVersion version = {}) {
    for (uint32_t episode : std::get<RolloutJob>(job.body).episodes)
      Says(worker, Result(job, episode, version));
  }
  WeightsAnnouncement Weights(RunId run, PolicyVersion version) {
    return {run, version, "tcp://learner", 100, 10, "hash"};
  }
  CheckpointDurable Checkpoint(RunId run, PolicyVersion version, PolicyVersion parent,
                               std::vector<uint64_t> places) {
    CheckpointDurable checkpoint{run, version, parent, {}, {}, {}};
    for (uint64_t place : places) checkpoint.consumed.push_back({place, Fate::kTrained});
    return checkpoint;
  }

  TimePoint now{};
  CoordinatorSettings settings;
  StoreImage image{"c1"};
  std::optional<Coordinator> core;
  bool store_works = true;
  std::vector<StoreRecords> pending;
  Effects done;
};

}  // namespace warpsmith
