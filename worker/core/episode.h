// One episode of a rollout job: T turns of action, evaluation and reward, as a state machine.
#pragma once

#include <cstdint>

#include "common/model/reward.h"
#include "common/model/trajectory.h"
#include "schema/child.h"

namespace warpsmith {

// Whether an infrastructure outcome means that nothing more can be judged on that device.
bool MeansDeviceGone(InfrastructureKind kind);

class EpisodeRun {
 public:
  enum class State { kWaiting, kActing, kEvaluating, kEnded };

  EpisodeRun(uint32_t number, uint64_t job_seed, int turns, RewardKind reward)
      : number_(number), job_seed_(job_seed), turns_(turns), reward_(reward) {}

  State state() const { return state_; }
  uint32_t number() const { return number_; }
  const std::vector<Turn>& turns() const { return done_; }
  // The candidate being evaluated.
  const std::string& candidate() const { return action_.text; }

  // What the policy sees for the next turn, with the seed of its sampling.
  Episode Observe() const;

  void BeginAct();            // waiting -> acting
  void ActFailed();           // acting -> waiting: it is asked again
  void Acted(Action action);  // acting -> evaluating

  enum class Next { kTryAgain, kTurn, kEnded, kDeviceGone };
  // Judges what came back. kTryAgain: evaluate the same candidate once more. kTurn: waiting again.
  // kEnded: the record is complete. kDeviceGone: nothing was recorded; the job must fail.
  Next Evaluated(Evaluation evaluation);

 private:
  uint32_t number_;
  uint64_t job_seed_;
  int turns_;
  RewardKind reward_;
  State state_ = State::kWaiting;
  Action action_;
  int tries_ = 0;
  std::vector<Turn> done_;
};

}  // namespace warpsmith
