// The fixture of the worker's stories: the test plays the coordinator, the policy and the
// evaluator, and moves time.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "common/base/random.h"
#include "worker/core/episode.h"
#include "worker/core/worker_core.h"

namespace warpsmith {

using namespace std::chrono_literals;

inline Outcome CorrectAt(double speedup) { return Correct{.speedup = speedup}; }

class WorkerStory : public ::testing::Test {
 protected:
  WorkerStory() : core_(Options()) { Happens(Started{}); }

  static WorkerCoreOptions Options() {
    WorkerCoreOptions options;
    options.name = "test";
    options.devices = {DeviceFacts{.kind = DeviceKind::kSimulated}};
    options.policies = {"grammar", "random"};
    options.capacity = 2;
    return options;
  }

  void Happens(WorkerEvent event) {
    for (WorkerEffect& effect : core_.Step(now_, std::move(event))) {
      if (auto* send = std::get_if<SendMessage>(&effect)) sent_.push_back(std::move(send->message));
      if (auto* e = std::get_if<Evaluate>(&effect)) evaluate_.push_back(std::move(*e));
      if (auto* ask = std::get_if<AskPolicy>(&effect)) asked_.push_back(std::move(ask->message));
      if (auto* pull = std::get_if<PullWeights>(&effect)) pulls_.push_back(pull->announcement);
      if (auto* exit = std::get_if<Exit>(&effect)) exit_ = *exit;
    }
  }
  void Hear(CoordinatorToWorker message) { Happens(Heard{std::move(message)}); }

  // Time passes in the steps that the core asks for.
  void Pass(Duration by) {
    TimePoint end = now_ + by;
    for (int steps = 0;; ++steps) {
      ASSERT_LT(steps, 10'000) << "the core asks to be woken without end";
      std::optional<TimePoint> next = core_.NextDeadline();
      if (!next || *next > end) break;
      now_ = std::max(now_, *next);
      Happens(TimePassed{});
    }
    now_ = end;
    Happens(TimePassed{});
  }

  // The same, while the coordinator is heard.
  void PassInTouch(Duration by) {
    for (TimePoint end = now_ + by; now_ < end;) {
      Hear(HeartbeatReply{1});
      Pass(std::min<Duration>(1s, end - now_));
    }
  }

  void Welcome(std::vector<HeldLease> adopted = {}, uint64_t epoch = 1) {
    Hear(WelcomeWorker{.epoch = epoch, .heartbeat = 1s, .lease = 10s, .adopted = adopted});
  }

  static RolloutJob Rollout(std::vector<uint32_t> episodes, int turns) {
    RolloutJob job{.run = RunId(3), .group = GroupId(9), .episodes = std::move(episodes)};
    job.task.id = TaskId("s/t");
    job.policy = "grammar";
    job.turns = turns;
    job.seed = 77;
    return job;
  }
  void Assign(uint64_t id, JobBody body, uint32_t attempt = 1) {
    Hear(AssignJob{.job = JobId(id),
                   .fence = {1, attempt},
                   .lease = 10s,
                   .total_deadline = 1000s,
                   .body = std::move(body)});
  }

  // The policy answers the oldest question with one text an episode.
  void PolicyActs(PolicyVersion version = {}) {
    ASSERT_FALSE(asked_.empty());
    auto request = std::get<ActRequest>(asked_.front());
    asked_.pop_front();
    ActReply reply{.id = request.id};
    for (const Episode& episode : request.episodes) {
      reply.actions.push_back(
          {.version = version, .text = "candidate " + std::to_string(episode.seed)});
    }
    Happens(PolicyReplied{reply});
  }
  void Judge(Outcome outcome) {
    ASSERT_FALSE(evaluate_.empty());
    uint64_t id = evaluate_.front().id;
    evaluate_.pop_front();
    Happens(Evaluated{.id = id, .evaluation = {.outcome = std::move(outcome)}, .wall_clock_ms = 5});
  }

  template <typename Message>
  std::vector<Message> Sent() const {
    std::vector<Message> found;
    for (const WorkerMessage& message : sent_) {
      if (const auto* m = std::get_if<Message>(&message)) found.push_back(*m);
    }
    return found;
  }

  TimePoint now_{};
  WorkerCore core_;
  std::vector<WorkerMessage> sent_;
  std::deque<Evaluate> evaluate_;
  std::deque<ToPolicy> asked_;
  std::deque<WeightsAnnouncement> pulls_;
  std::optional<Exit> exit_;
};

}  // namespace warpsmith
