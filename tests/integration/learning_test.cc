// Policy and learner together, over the starter suite on the simulated device: the grammar policy
// learns within a small budget, and without a learning rate, or from rewards that are not its own,
// it does not. The same loop as a run's, without the processes.
#include <gmock/gmock.h>

#include "common/base/random.h"
#include "common/model/reward.h"
#include "common/runtime/files.h"
#include "common/suite/suite_file.h"
#include "learner/torch/trainer.h"
#include "policy/torch/grammar_policy.h"
#include "worker/simulated/cost_model.h"

namespace warpsmith {
namespace {

struct Rewards {
  double first_half = 0;
  double last_quarter = 0;
};

class Learning : public ::testing::Test {
 protected:
  void SetUp() override {
    auto suite = LoadSuite(WARPSMITH_SUITES "/starter.yaml");
    ASSERT_TRUE(suite) << suite.error().message;
    spec_.suites = {*suite};
    spec_.algorithm.turns = 2;
    spec_.algorithm.group = 4;
    spec_.algorithm.batch_episodes = 16;
    auto temp = TempDirectory::Make("learning");
    ASSERT_TRUE(temp) << temp.error().message;
    temp_ = std::move(*temp);
  }

  // One group: episodes on a task, turn by turn.
  std::vector<Trajectory> Rollout(GrammarPolicy& policy, uint64_t seed, uint64_t group) {
    const Task& task = spec_.suites[0].tasks[group % spec_.suites[0].tasks.size()];
    const DeviceFacts device = SimulatedDevice(0);
    std::vector<Trajectory> episodes(static_cast<size_t>(spec_.algorithm.group));
    for (int turn = 0; turn < spec_.algorithm.turns; ++turn) {
      std::vector<Observation> observations;
      for (size_t k = 0; k < episodes.size(); ++k)
        observations.push_back({.task = task,
                                .device = device,
                                .turns = episodes[k].turns,
                                .seed = MixSeed({seed, group, k, static_cast<uint64_t>(turn)})});
      auto actions = policy.Act(observations);
      EXPECT_TRUE(actions) << actions.error().message;
      for (size_t k = 0; k < episodes.size(); ++k) {
        Turn next{.action = (*actions)[k]};
        next.evaluation.outcome =
            SimulatedOutcome(task, next.action.text, Depth::kScreen, observations[k].seed);
        next.reward = Reward(spec_.reward, next.evaluation.outcome);
        episodes[k].id.group = GroupId(group);
        episodes[k].task = task.id;
        episodes[k].device = device;
        episodes[k].turns.push_back(std::move(next));
      }
    }
    return episodes;
  }

  // Rewards of a group's turn go to other episodes than the ones that earned them.
  static void Shuffle(std::vector<Trajectory>& group, Random& random) {
    for (size_t turn = 0; turn < group[0].turns.size(); ++turn)
      for (size_t k = group.size(); k > 1; --k)
        std::swap(group[k - 1].turns[turn].reward, group[random.Below(k)].turns[turn].reward);
  }

  Rewards Train(double learning_rate, uint64_t seed, int steps, bool shuffled = false) {
    spec_.algorithm.learning_rate = learning_rate;
    auto trainer = Trainer::Init(spec_, seed);
    EXPECT_TRUE(trainer) << trainer.error().message;
    const std::string path = (temp_.path() / "weights.safetensors").string();
    std::vector<double> means;
    uint64_t group = 0;
    Random random(seed);
    for (int step = 0; step < steps; ++step) {
      GrammarPolicy policy;
      EXPECT_TRUE(trainer->Save(path));
      EXPECT_TRUE(policy.Load(path, {1, trainer->steps()}));
      std::vector<Trajectory> batch;
      while (batch.size() < static_cast<size_t>(spec_.algorithm.batch_episodes)) {
        std::vector<Trajectory> episodes = Rollout(policy, seed, group++);
        if (shuffled) Shuffle(episodes, random);
        for (Trajectory& episode : episodes) batch.push_back(std::move(episode));
      }
      means.push_back(trainer->Step(batch).report.mean_reward);
    }
    Rewards rewards;
    for (int step = 0; step < steps; ++step) {
      if (step < steps / 2) rewards.first_half += means[step] / (steps / 2);
      if (step >= steps * 3 / 4) rewards.last_quarter += means[step] / (steps - steps * 3 / 4);
    }
    return rewards;
  }

  RunSpec spec_;
  TempDirectory temp_;
};

TEST_F(Learning, TheGrammarPolicyImprovesWithin640Evaluations) {
  for (const uint64_t seed : {1, 2, 3}) {
    // The same seeds without a learning rate: what the uniform policy gets.
    const Rewards frozen = Train(0, seed, 20);
    const Rewards learned = Train(1e-2, seed, 20);
    EXPECT_GT(learned.last_quarter, frozen.last_quarter + 0.25) << seed;
    EXPECT_GT(learned.last_quarter, learned.first_half + 0.08) << seed;
    EXPECT_LT(std::abs(frozen.last_quarter - frozen.first_half), 0.15) << seed;
  }
}

TEST_F(Learning, RewardsThatWereShuffledTeachNothing) {
  double shuffled = 0, frozen = 0;
  for (const uint64_t seed : {1, 2, 3}) {
    frozen += Train(0, seed, 20).last_quarter / 3;
    shuffled += Train(1e-2, seed, 20, true).last_quarter / 3;
  }
  EXPECT_LT(shuffled, frozen + 0.1);
}

}  // namespace
}  // namespace warpsmith
