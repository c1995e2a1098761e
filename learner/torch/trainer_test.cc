#include "learner/torch/trainer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/random.h"
#include "common/runtime/files.h"
#include "policy/grammar/families.h"
#include "policy/grammar/random_policy.h"
#include "policy/grammar/shipped_tasks.h"
#include "policy/torch/grammar_policy.h"
#include "policy/torch/safetensors.h"

namespace warpsmith {
namespace {

using ::testing::HasSubstr;

// Two slots of four choices. The reward is 1 for (2, 1), half of it for either alone.
class Toy : public Family {
 public:
  std::string_view name() const override { return "toy"; }
  const std::vector<Slot>& slots() const override { return slots_; }
  Status Matches(const Task&) const override { return {}; }
  std::vector<uint8_t> Allowed(const Task&, size_t, std::span<const int32_t>) const override {
    return {1, 1, 1, 1};
  }
  std::string Write(const Task&, DeviceKind, std::span<const int32_t>) const override { return ""; }

 private:
  std::vector<Slot> slots_ = {{"a", {"0", "1", "2", "3"}}, {"b", {"0", "1", "2", "3"}}};
};

double ToyReward(const std::vector<int32_t>& ids) {
  return 0.5 * (ids[0] == 2) + 0.5 * (ids[1] == 1);
}

const Toy kToy;
const Family* const kToyFamilies[] = {&kToy};

RunSpec Spec(std::vector<Task> tasks, double learning_rate = 1e-2) {
  RunSpec spec;
  spec.suites = {{.name = "toys", .tasks = std::move(tasks)}};
  spec.algorithm.learning_rate = learning_rate;
  return spec;
}

Task ToyTask() {
  Task task;
  task.id = TaskId("toys/toy");
  return task;
}

Trainer MustInit(const RunSpec& spec, uint64_t seed, std::span<const Family* const> families) {
  auto trainer = Trainer::Init(spec, seed, families);
  EXPECT_TRUE(trainer) << trainer.error().message;
  return std::move(*trainer);
}

class TrainerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDirectory::Make("trainer");
    ASSERT_TRUE(temp) << temp.error().message;
    temp_ = std::move(*temp);
  }
  std::string Path(const std::string& name = "weights") const {
    return (temp_.path() / (name + ".safetensors")).string();
  }

  // `groups` groups of 8 episodes of one turn, drawn from the policy as the trainer has it now.
  std::vector<Trajectory> Play(const Trainer& trainer, uint64_t seed, int groups) {
    GrammarPolicy policy(kToyFamilies);
    EXPECT_TRUE(trainer.Save(Path()));
    EXPECT_TRUE(policy.Load(Path(), {1, trainer.steps()}));
    const Task task = ToyTask();
    const DeviceFacts device;
    std::vector<Observation> observations;
    for (int i = 0; i < groups * 8; ++i)
      observations.push_back(
          {.task = task, .device = device, .seed = MixSeed({seed, static_cast<uint64_t>(i)})});
    const auto actions = policy.Act(observations);
    EXPECT_TRUE(actions);
    std::vector<Trajectory> batch;
    for (size_t i = 0; i < actions->size(); ++i) {
      Trajectory& trajectory = batch.emplace_back();
      trajectory.id.group = GroupId(i / 8);
      trajectory.task = task.id;
      Turn& turn = trajectory.turns.emplace_back();
      turn.action = (*actions)[i];
      turn.reward = ToyReward(turn.action.ids);
      turn.evaluation.outcome = Correct{};
    }
    return batch;
  }

  double MeanReward(const Trainer& trainer, uint64_t seed) {
    const auto batch = Play(trainer, seed, 40);
    double sum = 0;
    for (const Trajectory& trajectory : batch) sum += trajectory.turns[0].reward;
    return sum / static_cast<double>(batch.size());
  }

  // 30 steps; the mean reward after them.
  double Learn(double learning_rate, uint64_t seed, bool shuffle) {
    Trainer trainer = MustInit(Spec({ToyTask()}, learning_rate), seed, kToyFamilies);
    Random random(seed);
    for (uint64_t step = 0; step < 30; ++step) {
      auto batch = Play(trainer, MixSeed({seed, step}), 4);
      for (size_t i = batch.size(); shuffle && i > 1; --i)
        std::swap(batch[i - 1].turns[0].reward, batch[random.Below(i)].turns[0].reward);
      trainer.Step(batch);
    }
    return MeanReward(trainer, seed + 1000);
  }

  TempDirectory temp_;
};

TEST_F(TrainerTest, RefusesWhatItCannotTrain) {
  RunSpec random = Spec({ToyTask()});
  random.policy = "random";
  EXPECT_THAT(Trainer::Init(random, 1).error().message, HasSubstr("`random`"));
  RunSpec unknown = Spec({ToyTask()});
  unknown.algorithm.advantage = "gae";
  EXPECT_THAT(Trainer::Init(unknown, 1).error().message, HasSubstr("gae"));
  RunSpec endless = Spec({ToyTask()});
  endless.algorithm.epochs = 2'000'000'000;
  EXPECT_THAT(Trainer::Init(endless, 1).error().message, HasSubstr("algorithm.epochs"));
  RunSpec nowhere = Spec({ToyTask()}, std::nan(""));
  EXPECT_THAT(Trainer::Init(nowhere, 1).error().message, HasSubstr("algorithm.learning_rate"));
  RunSpec strange = Spec({ToyTask()});  // no family of the grammar fits a task without a reference
  EXPECT_THAT(Trainer::Init(strange, 1).error().message, HasSubstr("can write toys/toy"));
}

TEST_F(TrainerTest, ABatchWithNothingToLearnFromChangesNoWeight) {
  Trainer trainer = MustInit(Spec({ToyTask()}), 1, kToyFamilies);
  auto batch = Play(trainer, 1, 2);
  const auto before = ReadTensors(Path());
  for (size_t i = 0; i < batch.size(); ++i) {
    Turn& turn = batch[i].turns[0];
    switch (i % 4) {
      case 0: turn.evaluation.outcome = Infrastructure{}; break;
      case 1: turn.action.ids = {9, 9}; break;
      case 2: batch[i].task = TaskId("toys/gone"); break;
      case 3: turn.action.log_probs.pop_back(); break;
    }
  }
  const TrainerStep step = trainer.Step(batch);
  EXPECT_EQ(step.updates, 0);
  EXPECT_EQ(step.report.turns, 0);
  EXPECT_EQ(step.report.step, 1u);
  ASSERT_TRUE(trainer.Save(Path()));
  EXPECT_EQ(ReadTensors(Path())->tensors, before->tensors);
}

TEST_F(TrainerTest, WhatIsNotFiniteIsSkippedAndCounted) {
  Trainer trainer = MustInit(Spec({ToyTask()}), 1, kToyFamilies);
  auto batch = Play(trainer, 1, 1);
  const auto before = ReadTensors(Path());
  for (size_t i = 0; i < batch.size(); ++i) batch[i].turns[0].reward = i == 0 ? 1.7e308 : -1.7e308;
  const TrainerStep step = trainer.Step(batch);
  EXPECT_EQ(step.updates, 0);
  EXPECT_EQ(step.skipped_updates, 2);
  ASSERT_TRUE(trainer.Save(Path()));
  EXPECT_EQ(ReadTensors(Path())->tensors, before->tensors);
  EXPECT_TRUE(std::isfinite(step.report.loss));
}

TEST_F(TrainerTest, TheLossIsTheFormulasByHand) {
  RunSpec spec = Spec({ToyTask()}, 0);  // nothing moves: ratio 1 in every update
  spec.algorithm.epochs = 1;
  spec.algorithm.entropy = 0.01;
  Trainer trainer = MustInit(spec, 1, kToyFamilies);
  auto batch = Play(trainer, 1, 1);
  batch.resize(2);
  const double uniform = std::log(4.0);
  // Advantages 2 and -2 (deviation 1). Behaviour -1 for the good one: weight exp(1 - log 4). For
  // the bad one -5: weight exp(5 - log 4), cut to 2.
  batch[0].turns[0].reward = 1;
  batch[0].turns[0].action.log_probs = {-1, -1};
  batch[1].turns[0].reward = -1;
  batch[1].turns[0].action.log_probs = {-5, -5};
  const StepReport report = trainer.Step(batch).report;
  const double objective = (2 * std::exp(1 - uniform) - 2 * 2) / 2;
  EXPECT_NEAR(report.entropy, uniform, 1e-5);
  EXPECT_NEAR(report.loss, -objective - 0.01 * uniform, 1e-5);
  EXPECT_NEAR(
      report.approx_kl,
      (std::exp(1 - uniform) - 1 - (1 - uniform) + std::exp(5 - uniform) - 1 - (5 - uniform)) / 2,
      1e-3);
  EXPECT_EQ(report.clip_fraction, 0);
  EXPECT_EQ(report.mean_reward, 0);
  EXPECT_EQ(report.pass_rate, 1);

  // On policy it is plain PPO: every weight and ratio is 1, and the mean advantage of a group is 0.
  const StepReport on_policy = trainer.Step(Play(trainer, 2, 4)).report;
  EXPECT_NEAR(on_policy.loss, -0.01 * uniform, 1e-5);
  EXPECT_NEAR(on_policy.approx_kl, 0, 1e-10);
}

// What Adam is given, against differences of the loss. At a step's start every ratio is 1, so that
// the loss it reports is -mean(weight * advantage) - bonus; its derivative is the objective's as
// long as no weight is capped.
TEST_F(TrainerTest, TheGradientIsTheDerivativeOfTheLoss) {
  RunSpec spec = Spec({ToyTask()}, 3e-2);
  spec.algorithm.epochs = 1;
  spec.algorithm.entropy = 0.05;
  Trainer trainer = MustInit(spec, 3, kToyFamilies);
  for (uint64_t step = 0; step < 3; ++step) trainer.Step(Play(trainer, step, 4));  // not uniform
  const auto batch = Play(trainer, 9, 4);  // one gradient step
  const TensorFile before = *ReadTensors(Path());

  ASSERT_EQ(trainer.Step(batch).updates, 1);
  ASSERT_TRUE(trainer.Save(Path("after")));
  const TensorFile after = *ReadTensors(Path("after"));
  Trainer still = MustInit(spec, 3, kToyFamilies);
  const auto loss_with = [&](const std::string& name, size_t i, float change) {
    TensorFile file = before;
    file.tensors.at(name).values[i] += change;
    EXPECT_TRUE(WriteTensors(Path("changed"), file));
    EXPECT_TRUE(still.Load(Path("changed")));
    return still.Step(batch).report.loss;
  };
  double norm = 0;
  int compared = 0;
  for (const auto& [name, moment] : before.tensors) {
    if (!name.starts_with("adam.m.")) continue;
    std::vector<double> gradient;
    for (size_t i = 0; i < moment.values.size(); ++i) {
      gradient.push_back((after.tensors.at(name).values[i] - 0.9 * moment.values[i]) / 0.1);
      norm += gradient.back() * gradient.back();
    }
    const std::string weight = name.substr(std::string("adam.m.").size());
    std::vector<size_t> order(gradient.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::abs(gradient[a]) > std::abs(gradient[b]);
    });
    for (size_t n = 0; n < std::min<size_t>(3, order.size()); ++n, ++compared) {
      const size_t i = order[n];
      const float h = 1e-2f;
      const double numeric = (loss_with(weight, i, h) - loss_with(weight, i, -h)) / (2 * h);
      EXPECT_NEAR(gradient[i], numeric, 2e-4 + 0.02 * std::abs(numeric)) << weight << " " << i;
    }
  }
  EXPECT_GE(compared, 20);
  EXPECT_LT(std::sqrt(norm), 0.99) << "clipped: nothing to compare";
  EXPECT_GT(std::sqrt(norm), 0.01);
}

// So that whatever a trained policy does better than the random one, it has learned.
TEST_F(TrainerTest, TheRandomPolicyDrawsAsAnUntrainedOneDoes) {
  const std::vector<Task> tasks = ShippedTasks();
  GrammarPolicy loaded;
  ASSERT_TRUE(MustInit(Spec(tasks), 11, Families()).Save(Path()));
  ASSERT_TRUE(loaded.Load(Path(), {1, 0}));
  RandomPolicy random(Families());
  const DeviceFacts device;
  for (const Task& task : tasks) {
    std::vector<Turn> turns;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const Observation observation{.task = task, .device = device, .turns = turns, .seed = seed};
      const Action drawn = random.Act(std::span(&observation, 1))->at(0);
      const Action untrained = loaded.Act(std::span(&observation, 1))->at(0);
      EXPECT_EQ(drawn.ids, untrained.ids);
      EXPECT_EQ(drawn.text, untrained.text);
      EXPECT_EQ(drawn.mask, untrained.mask);
      ASSERT_EQ(drawn.log_probs.size(), untrained.log_probs.size());
      for (size_t i = 0; i < drawn.log_probs.size(); ++i)
        EXPECT_NEAR(drawn.log_probs[i], untrained.log_probs[i], 1e-5);
      Turn turn{.action = drawn, .reward = 1};
      turn.evaluation.outcome = Correct{.speedup = 1.5};
      if (turns.size() < 3) turns.push_back(turn);
    }
  }
}

TEST_F(TrainerTest, LearnsTwoSlotsForThreeSeeds) {
  for (const uint64_t seed : {1, 2, 3}) EXPECT_GT(Learn(1e-2, seed, false), 0.8) << seed;
}

TEST_F(TrainerTest, LearnsNothingWithoutALearningRateOrFromShuffledRewards) {
  // A uniform policy's mean is 0.25.
  for (const uint64_t seed : {1, 2, 3}) EXPECT_NEAR(Learn(0, seed, false), 0.25, 0.06) << seed;
  double shuffled = 0;
  for (const uint64_t seed : {1, 2, 3}) shuffled += Learn(1e-2, seed, true) / 3;
  EXPECT_LT(shuffled, 0.35);
}

TEST_F(TrainerTest, AResumedTrainerGoesOnAsIfNothingHadHappened) {
  Trainer straight = MustInit(Spec({ToyTask()}), 5, kToyFamilies);
  std::vector<std::vector<Trajectory>> batches;
  for (uint64_t step = 0; step < 4; ++step) batches.push_back(Play(straight, step, 4));
  for (const auto& batch : batches) straight.Step(batch);
  ASSERT_TRUE(straight.Save(Path("straight")));

  Trainer first = MustInit(Spec({ToyTask()}), 5, kToyFamilies);
  for (int i : {0, 1}) first.Step(batches[i]);
  ASSERT_TRUE(first.Save(Path("half")));
  Trainer second = MustInit(Spec({ToyTask()}), 5, kToyFamilies);
  ASSERT_TRUE(second.Load(Path("half")));
  EXPECT_EQ(second.steps(), 2u);
  for (int i : {2, 3}) second.Step(batches[i]);
  ASSERT_TRUE(second.Save(Path("resumed")));
  EXPECT_EQ(*ReadFile(Path("straight")), *ReadFile(Path("resumed")));
}

TEST_F(TrainerTest, AFileThatDoesNotFitLeavesItAsItWas) {
  Trainer trainer = MustInit(Spec({ToyTask()}), 1, kToyFamilies);
  trainer.Step(Play(trainer, 1, 1));
  ASSERT_TRUE(trainer.Save(Path("good")));
  EXPECT_EQ(trainer.Load(Path("missing")).error().code, ErrorCode::kNotFound);

  TensorFile file = *ReadTensors(Path("good"));
  file.metadata["grammar"] = "0";
  ASSERT_TRUE(WriteTensors(Path("other"), file));
  EXPECT_EQ(trainer.Load(Path("other")).error().code, ErrorCode::kInvalidInput);
  file = *ReadTensors(Path("good"));
  file.tensors.erase("adam.v.head.bias");
  ASSERT_TRUE(WriteTensors(Path("partial"), file));
  EXPECT_EQ(trainer.Load(Path("partial")).error().code, ErrorCode::kInvalidInput);
  file = *ReadTensors(Path("good"));
  file.tensors["head.bias"].values[0] = std::nanf("");
  ASSERT_TRUE(WriteTensors(Path("nan"), file));
  EXPECT_EQ(trainer.Load(Path("nan")).error().code, ErrorCode::kInvalidInput);
  const std::string torn = ReadFile(Path("good"))->substr(0, 1000);
  ASSERT_TRUE(WriteFileAtomically(Path("torn"), torn));
  EXPECT_EQ(trainer.Load(Path("torn")).error().code, ErrorCode::kCorrupt);

  ASSERT_TRUE(trainer.Save(Path("after")));
  EXPECT_EQ(*ReadFile(Path("good")), *ReadFile(Path("after")));
}

// Learner and policy must see the same numbers: with trained weights, on the real grammar, over
// turns.
TEST_F(TrainerTest, RecomputesTheLogProbabilitiesThatThePolicySampledWith) {
  const std::vector<Task> tasks = ShippedTasks();
  RunSpec spec = Spec(tasks, 3e-2);
  Trainer trainer = MustInit(spec, 7, Families());
  const DeviceFacts device;
  uint64_t draws = 0;
  const auto play = [&] {
    GrammarPolicy policy;
    EXPECT_TRUE(trainer.Save(Path()));
    EXPECT_TRUE(policy.Load(Path(), {1, trainer.steps()}));
    std::vector<Trajectory> batch;
    for (size_t t = 0; t < tasks.size(); ++t)
      for (int episode = 0; episode < 4; ++episode) {
        Trajectory& trajectory = batch.emplace_back();
        trajectory.id.group = GroupId(t);
        trajectory.task = tasks[t].id;
        for (int turn = 0; turn < 3; ++turn) {
          const Observation observation{
              .task = tasks[t], .device = device, .turns = trajectory.turns, .seed = ++draws};
          auto actions = policy.Act(std::span(&observation, 1));
          EXPECT_TRUE(actions);
          const auto& ids = (*actions)[0].ids;
          const int sum = std::accumulate(ids.begin(), ids.end(), 0);
          Turn played{.action = (*actions)[0], .reward = static_cast<double>(sum)};
          if (sum % 3 == 0)
            played.evaluation.outcome = WrongOutput{};
          else
            played.evaluation.outcome = Correct{.speedup = 0.1 * sum};
          trajectory.turns.push_back(played);
        }
      }
    return batch;
  };
  for (int step = 0; step < 5; ++step) trainer.Step(play());

  const auto last = play();
  Trainer frozen = MustInit(Spec(tasks, 0), 7, Families());
  ASSERT_TRUE(frozen.Load(Path()));
  const StepReport report = frozen.Step(last).report;
  EXPECT_EQ(report.turns, 8 * 4 * 3);
  EXPECT_LT(report.approx_kl, 1e-9);
  EXPECT_EQ(report.clip_fraction, 0);
  EXPECT_EQ(report.mean_staleness, 0);
  EXPECT_GT(report.entropy, 0);
  EXPECT_LT(report.entropy, 1.2);  // it is not uniform any more
}

TEST_F(TrainerTest, APolicyRefusesWeightsOfAnotherGrammarAndKeepsItsOwn) {
  const Trainer toy = MustInit(Spec({ToyTask()}), 1, kToyFamilies);
  ASSERT_TRUE(toy.Save(Path()));
  GrammarPolicy policy;
  EXPECT_EQ(policy.Load(Path(), {1, 1}).error().code, ErrorCode::kInvalidInput);
  const Task task = ShippedTasks()[0];
  const DeviceFacts device;
  const Observation observation{.task = task, .device = device, .seed = 3};
  const auto actions = policy.Act(std::span(&observation, 1));
  ASSERT_TRUE(actions);
  EXPECT_EQ((*actions)[0].version, PolicyVersion{});
  const auto again = policy.Act(std::span(&observation, 1));
  EXPECT_EQ(*again, *actions);
}

}  // namespace
}  // namespace warpsmith
