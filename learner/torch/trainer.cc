#include "learner/torch/trainer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "common/base/parse.h"
#include "common/base/random.h"
#include "common/model/outcome.h"
#include "common/model/run_check.h"
#include "learner/core/advantages.h"
#include "learner/core/ppo.h"
#include "policy/grammar/families.h"
#include "policy/torch/grammar_network.h"

namespace warpsmith {
namespace {

constexpr double kMaxGradientNorm = 1;
// Turns of one gradient step: several small steps an epoch learn more from a batch than a large
// one.
constexpr size_t kMinibatchTurns = 64;

// Adam's constants, as Kingma and Ba give them ("Adam", 2015).
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamEpsilon = 1e-8;

// A turn to learn from. Positions without a slot are chosen = false.
struct Sample {
  NetworkExample example;
  std::vector<float> behaviour;  // log-probability of each id, as sampled
  std::vector<uint8_t> chosen;   // by the policy, so trainable
  double advantage = 0;
};

// Samples as tensors: n turns of up to s slots over t tokens.
struct Packed {
  at::Tensor inputs, best;                           // [n, ...]
  at::Tensor tokens;                                 // [n, s], 0 where there is no slot
  at::Tensor present;                                // [n, s, 1], 0 where there is no slot
  at::Tensor slots;                                  // [n, s]
  at::Tensor allowed;                                // [n, s, t]
  std::vector<std::pair<size_t, size_t>> trainable;  // (turn, slot), in order
};

// What a pass over samples adds up to; sums over ids.
struct Sums {
  double objective = 0, entropy = 0, kl = 0, clipped = 0;
  size_t ids = 0;
};

}  // namespace

struct Trainer::Impl {
  Impl(const RunSpec& run_spec, uint64_t run_seed, std::span<const Family* const> all)
      : spec(run_spec), seed(run_seed), families(all), network(Vocabulary(all), run_seed) {
    for (const auto& [name, value] : network.parameters()) {
      first_moment[name] = at::zeros_like(value);
      second_moment[name] = at::zeros_like(value);
    }
  }

  std::vector<Sample> Collect(std::span<const Trajectory> batch,
                              const std::vector<std::vector<TurnCredit>>& credit) const;
  Packed Pack(std::span<const Sample> samples) const;
  at::Tensor LogProbabilities(const Packed& packed) const;
  // One update on a minibatch; false: something was not finite and nothing changed.
  bool Update(std::span<const Sample> samples, const std::vector<std::vector<float>>& proximal,
              Sums& sums);
  void Adam();

  RunSpec spec;
  uint64_t seed;
  std::span<const Family* const> families;
  GrammarNetwork network;
  std::map<std::string, at::Tensor> first_moment, second_moment;
  uint64_t updates = 0;  // of Adam
  uint64_t steps = 0;
};

std::vector<Sample> Trainer::Impl::Collect(
    std::span<const Trajectory> batch, const std::vector<std::vector<TurnCredit>>& credit) const {
  std::vector<Sample> samples;
  for (size_t i = 0; i < batch.size(); ++i) {
    const Trajectory& trajectory = batch[i];
    const Task* task = FindTask(spec, trajectory.task);
    if (!task) continue;
    const auto family = FindFamily(families, *task);
    if (!family) continue;
    const auto place = std::find(families.begin(), families.end(), *family) - families.begin();
    for (size_t t = 0; t < trajectory.turns.size(); ++t) {
      const Action& action = trajectory.turns[t].action;
      if (!credit[i][t].trainable || !CheckChoices(**family, *task, action.ids)) continue;
      Sample sample{.behaviour = action.log_probs,
                    .chosen = action.mask,
                    .advantage = credit[i][t].advantage};
      sample.example = {
          .observation = Encode(*task, trajectory.device, std::span(trajectory.turns).first(t)),
          .family = static_cast<size_t>(place),
          .ids = action.ids};
      for (size_t slot = 0; slot < action.ids.size(); ++slot)
        sample.example.allowed.push_back(
            (*family)->Allowed(*task, slot, std::span(action.ids).first(slot)));
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

Packed Trainer::Impl::Pack(std::span<const Sample> samples) const {
  const Vocabulary& vocabulary = network.vocabulary();
  const auto n = static_cast<int64_t>(samples.size());
  const auto s = static_cast<int64_t>(vocabulary.max_slots());
  std::vector<NetworkExample> examples;
  for (const Sample& sample : samples) examples.push_back(sample.example);
  Packed packed;
  std::tie(packed.inputs, packed.best) = network.Pack(examples);
  packed.tokens = at::zeros({n, s}, at::kLong);
  packed.slots = at::zeros({n, s}, at::kLong);
  packed.present = at::zeros({n, s, 1});
  packed.allowed = at::zeros({n, s, vocabulary.size()}, at::kBool);
  for (int64_t i = 0; i < n; ++i) {
    const Sample& sample = samples[static_cast<size_t>(i)];
    const NetworkExample& example = sample.example;
    const size_t family = example.family;
    int64_t* tokens = packed.tokens[i].data_ptr<int64_t>();
    int64_t* slots = packed.slots[i].data_ptr<int64_t>();
    float* present = packed.present[i].data_ptr<float>();
    for (size_t slot = 0; slot < example.ids.size(); ++slot) {
      const int32_t first = vocabulary.first(family, slot);
      tokens[slot] = first + example.ids[slot];
      slots[slot] = network.SlotIndex(family, slot);
      present[slot] = 1;
      bool* row = packed.allowed[i][static_cast<int64_t>(slot)].data_ptr<bool>() + first;
      std::copy(example.allowed[slot].begin(), example.allowed[slot].end(), row);
      if (sample.chosen[slot]) packed.trainable.emplace_back(i, slot);
    }
  }
  return packed;
}

// [n, s, tokens]: the distribution at each slot, given the choices made before it.
at::Tensor Trainer::Impl::LogProbabilities(const Packed& packed) const {
  const at::Tensor embedded = network.Embed(packed.tokens) * packed.present;
  const at::Tensor earlier = embedded.cumsum(1) - embedded;
  const at::Tensor context = network.Trunk(packed.inputs).unsqueeze(1) + earlier;
  return network.LogProbabilities(context, packed.slots, packed.best.unsqueeze(1), packed.allowed);
}

bool Trainer::Impl::Update(std::span<const Sample> samples,
                           const std::vector<std::vector<float>>& proximal, Sums& sums) {
  const Packed packed = Pack(samples);
  if (packed.trainable.empty()) return true;
  const at::Tensor distribution = LogProbabilities(packed);
  const at::Tensor now = distribution.gather(2, packed.tokens.unsqueeze(2)).squeeze(2);

  // The objective's slope for each id is plain arithmetic (learner/core/ppo.h); autograd takes it
  // from there to the weights.
  at::Tensor slope = at::zeros_like(now), trainable = at::zeros_like(now);
  const at::Tensor now_values = now.detach().contiguous();
  Sums here;
  for (const auto& [i, slot] : packed.trainable) {
    const auto row = static_cast<int64_t>(i);
    const double log_prob = now_values[row].data_ptr<float>()[slot];
    const PpoTerm term = Ppo(spec.algorithm, log_prob, proximal[i][slot],
                             samples[i].behaviour[slot], samples[i].advantage);
    here.objective += term.objective;
    here.kl += KlSample(log_prob, samples[i].behaviour[slot]);
    here.clipped += term.clipped;
    slope[row].data_ptr<float>()[slot] = static_cast<float>(term.slope);
    trainable[row].data_ptr<float>()[slot] = 1;
  }
  here.ids = packed.trainable.size();
  const at::Tensor entropy = -(distribution.exp() * distribution).sum(-1) * trainable;
  here.entropy = entropy.detach().sum().item<double>();
  const auto count = static_cast<double>(here.ids);
  const at::Tensor loss = -((slope * now).sum() + spec.algorithm.entropy * entropy.sum()) / count;

  for (const auto& [name, value] : network.parameters()) value.mutable_grad().reset();
  loss.backward();
  double norm = 0;
  for (const auto& [name, value] : network.parameters())
    norm += value.grad().square().sum().item<double>();
  norm = std::sqrt(norm);
  if (!std::isfinite(norm) || !std::isfinite(here.objective) || !std::isfinite(here.kl) ||
      !std::isfinite(here.entropy))
    return false;
  if (norm > kMaxGradientNorm)
    for (const auto& [name, value] : network.parameters())
      value.mutable_grad().mul_(kMaxGradientNorm / norm);
  Adam();
  sums.objective += here.objective;
  sums.entropy += here.entropy;
  sums.kl += here.kl;
  sums.clipped += here.clipped;
  sums.ids += here.ids;
  return true;
}

void Trainer::Impl::Adam() {
  const c10::NoGradGuard no_gradient;
  ++updates;
  const auto t = static_cast<double>(updates);
  const double correction1 = 1 - std::pow(kBeta1, t), correction2 = 1 - std::pow(kBeta2, t);
  for (const auto& [name, value] : network.parameters()) {
    const at::Tensor& gradient = value.grad();
    at::Tensor& first = first_moment.at(name);
    at::Tensor& second = second_moment.at(name);
    first.mul_(kBeta1).add_(gradient, 1 - kBeta1);
    second.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    value.addcdiv_(first, (second / correction2).sqrt_().add_(kAdamEpsilon),
                   -spec.algorithm.learning_rate / correction1);
  }
}

Result<Trainer> Trainer::Init(const RunSpec& spec, uint64_t seed) {
  return Init(spec, seed, Families());
}

Result<Trainer> Trainer::Init(const RunSpec& spec, uint64_t seed,
                              std::span<const Family* const> families) {
  if (spec.policy != "grammar")
    return Fail(ErrorCode::kInvalidInput,
                "the policy `" + spec.policy + "` has nothing to train: only `grammar` has");
  RETURN_IF_ERROR(CheckPolicyAndAlgorithm(spec));
  const auto known = EstimateAdvantages(spec.algorithm.advantage, {});
  if (!known) return tl::unexpected<Error>(known.error());
  for (const Task* task : AllTasks(spec))
    if (const auto family = FindFamily(families, *task); !family)
      return tl::unexpected<Error>(family.error());
  at::set_num_threads(1);
  return Trainer(std::make_unique<Impl>(spec, seed, families));
}

Trainer::Trainer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

uint64_t Trainer::steps() const { return impl_->steps; }

TrainerStep Trainer::Step(std::span<const Trajectory> batch) {
  const auto start = std::chrono::steady_clock::now();
  Impl& impl = *impl_;
  const Algorithm& algorithm = impl.spec.algorithm;
  TrainerStep step;
  StepReport& report = step.report;

  const auto credit = EstimateAdvantages(algorithm.advantage, batch);
  CHECK(credit, "Init knows the estimator");
  const std::vector<Sample> samples = impl.Collect(batch, *credit);

  // The proximal policy: this step's start.
  std::vector<std::vector<float>> proximal;
  {
    const c10::NoGradGuard no_gradient;
    for (size_t first = 0; first < samples.size(); first += kMinibatchTurns) {
      const auto some =
          std::span(samples).subspan(first, std::min(kMinibatchTurns, samples.size() - first));
      const Packed packed = impl.Pack(some);
      const at::Tensor log_probs = impl.LogProbabilities(packed)
                                       .gather(2, packed.tokens.unsqueeze(2))
                                       .squeeze(2)
                                       .contiguous();
      for (size_t i = 0; i < some.size(); ++i) {
        const float* row = log_probs[static_cast<int64_t>(i)].data_ptr<float>();
        proximal.emplace_back(row, row + log_probs.size(1));
      }
    }
  }

  Sums sums;
  Random random(MixSeed({impl.seed, impl.steps}));
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  for (int epoch = 0; epoch < algorithm.epochs; ++epoch) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
    for (size_t first = 0; first < order.size(); first += kMinibatchTurns) {
      std::vector<Sample> some;
      std::vector<std::vector<float>> some_proximal;
      for (size_t i = first; i < std::min(first + kMinibatchTurns, order.size()); ++i) {
        some.push_back(samples[order[i]]);
        some_proximal.push_back(proximal[order[i]]);
      }
      ++(impl.Update(some, some_proximal, sums) ? step.updates : step.skipped_updates);
    }
  }
  ++impl.steps;

  report.step = impl.steps;
  report.episodes = static_cast<int32_t>(batch.size());
  report.turns = static_cast<int32_t>(samples.size());
  double rewarded = 0, correct = 0, measured = 0, behind = 0;
  for (const Trajectory& trajectory : batch) {
    for (const Turn& turn : trajectory.turns) {
      const Outcome& outcome = turn.evaluation.outcome;
      if (!IsRewarded(outcome) || !std::isfinite(turn.reward)) continue;
      ++rewarded;
      report.mean_reward += turn.reward;
      correct += IsCorrect(outcome);
      if (SpeedupOf(outcome) <= 0) continue;
      ++measured;
      report.mean_speedup += SpeedupOf(outcome);
    }
    if (!trajectory.turns.empty())
      behind +=
          static_cast<double>(impl.steps - 1) - static_cast<double>(OldestVersion(trajectory).step);
  }
  const auto mean = [](double sum, double count) { return count > 0 ? sum / count : 0; };
  const auto ids = static_cast<double>(sums.ids);
  report.mean_reward = mean(report.mean_reward, rewarded);
  report.pass_rate = mean(correct, rewarded);
  report.mean_speedup = mean(report.mean_speedup, measured);
  report.mean_staleness = mean(behind, static_cast<double>(batch.size()));
  report.entropy = mean(sums.entropy, ids);
  report.loss = -mean(sums.objective, ids) - algorithm.entropy * report.entropy;
  report.approx_kl = mean(sums.kl, ids);
  report.clip_fraction = mean(sums.clipped, ids);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return step;
}

Status Trainer::Save(const std::string& path) const {
  TensorFile file = impl_->network.Save();
  for (const auto& [name, value] : impl_->first_moment)
    file.tensors["adam.m." + name] = ToNamed(value);
  for (const auto& [name, value] : impl_->second_moment)
    file.tensors["adam.v." + name] = ToNamed(value);
  file.metadata["adam_updates"] = std::to_string(impl_->updates);
  file.metadata["steps"] = std::to_string(impl_->steps);
  return WriteTensors(path, file);
}

Status Trainer::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const TensorFile file, ReadTensors(path));
  const auto number = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::nullopt : ParseWhole<uint64_t>(found->second);
  };
  const auto updates = number("adam_updates"), steps = number("steps");
  if (!updates || !steps)
    return Fail(ErrorCode::kInvalidInput, path + ": weights without the state of a trainer");
  const auto state = [&](const char* kind, std::map<std::string, at::Tensor>& moments) {
    for (const auto& [name, value] : impl_->network.parameters()) {
      const auto found = file.tensors.find(kind + name);
      if (found == file.tensors.end() || at::IntArrayRef(found->second.shape) != value.sizes())
        return false;
      for (const float entry : found->second.values)
        if (!std::isfinite(entry)) return false;
      moments[name] = FromNamed(found->second);
    }
    return true;
  };
  std::map<std::string, at::Tensor> first, second;
  if (!state("adam.m.", first) || !state("adam.v.", second))
    return Fail(ErrorCode::kInvalidInput, path + ": the optimiser's state is not all there");
  RETURN_IF_ERROR(impl_->network.Load(file));
  impl_->first_moment = std::move(first);
  impl_->second_moment = std::move(second);
  impl_->updates = *updates;
  impl_->steps = *steps;
  return {};
}

}  // namespace warpsmith
