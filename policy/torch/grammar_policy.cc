#include "policy/torch/grammar_policy.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "common/base/random.h"
#include "policy/grammar/families.h"
#include "policy/torch/grammar_network.h"

namespace warpsmith {
namespace {

// Any: an untrained head gives all choices the same probability.
constexpr uint64_t kUntrainedSeed = 1;

}  // namespace

struct GrammarPolicy::Impl {
  explicit Impl(std::span<const Family* const> all)
      : families(all), network(Vocabulary(all), kUntrainedSeed) {}

  // One slot for every action that has it, after the slots before it.
  void Choose(size_t slot, std::vector<NetworkExample>& examples, std::vector<Random>& random,
              const at::Tensor& best, at::Tensor& context, std::vector<Action>& actions) {
    const Vocabulary& vocabulary = network.vocabulary();
    const auto n = static_cast<int64_t>(examples.size());
    const auto has_slot = [&](const NetworkExample& e) {
      return slot < vocabulary.slots(e.family);
    };
    at::Tensor slots = at::zeros({n}, at::kLong);
    at::Tensor allowed = at::zeros({n, vocabulary.size()}, at::kBool);
    for (int64_t i = 0; i < n; ++i) {
      const NetworkExample& example = examples[static_cast<size_t>(i)];
      if (!has_slot(example)) continue;
      slots[i] = network.SlotIndex(example.family, slot);
      bool* row = allowed[i].data_ptr<bool>() + vocabulary.first(example.family, slot);
      std::copy(example.allowed[slot].begin(), example.allowed[slot].end(), row);
    }
    const at::Tensor log_probs = network.LogProbabilities(context, slots, best, allowed);
    at::Tensor chosen = at::zeros({n}, at::kLong);
    at::Tensor present = at::zeros({n, 1});
    for (int64_t i = 0; i < n; ++i) {
      const auto index = static_cast<size_t>(i);
      NetworkExample& example = examples[index];
      if (!has_slot(example)) continue;
      const int32_t first = vocabulary.first(example.family, slot);
      const float* row = log_probs[i].data_ptr<float>() + first;
      std::vector<double> weights;
      for (size_t c = 0; c < example.allowed[slot].size(); ++c)
        weights.push_back(example.allowed[slot][c] ? std::exp(static_cast<double>(row[c])) : 0);
      const auto choice = static_cast<int32_t>(random[index].Weighted(weights));
      const auto open = std::count(example.allowed[slot].begin(), example.allowed[slot].end(), 1);
      actions[index].ids.push_back(choice);
      actions[index].log_probs.push_back(open > 1 ? std::min(row[choice], 0.0f) : 0.0f);
      actions[index].mask.push_back(open > 1);
      chosen[i] = first + choice;
      present[i] = 1;
    }
    context = context + network.Embed(chosen) * present;
  }

  std::span<const Family* const> families;
  GrammarNetwork network;
  PolicyVersion version;
};

GrammarPolicy::GrammarPolicy() : GrammarPolicy(Families()) {}
GrammarPolicy::GrammarPolicy(std::span<const Family* const> families)
    : impl_(std::make_unique<Impl>(families)) {
  at::set_num_threads(1);
}
GrammarPolicy::~GrammarPolicy() = default;

Result<std::vector<Action>> GrammarPolicy::Act(std::span<const Observation> observations) {
  std::vector<NetworkExample> examples;
  std::vector<Random> random;
  for (const Observation& observation : observations) {
    ASSIGN_OR_RETURN(const Family* const family, FindFamily(impl_->families, observation.task));
    const auto place = std::find(impl_->families.begin(), impl_->families.end(), family);
    examples.push_back(
        {.observation = Encode(observation.task, observation.device, observation.turns),
         .family = static_cast<size_t>(place - impl_->families.begin())});
    random.emplace_back(observation.seed);
  }
  std::vector<Action> actions(examples.size());
  if (examples.empty()) return actions;

  const c10::NoGradGuard no_gradient;
  const auto [inputs, best] = impl_->network.Pack(examples);
  at::Tensor context = impl_->network.Trunk(inputs);
  for (size_t slot = 0; slot < impl_->network.vocabulary().max_slots(); ++slot) {
    for (size_t i = 0; i < examples.size(); ++i) {
      const Family& family = *impl_->families[examples[i].family];
      if (slot < family.slots().size())
        examples[i].allowed.push_back(family.Allowed(observations[i].task, slot, actions[i].ids));
    }
    impl_->Choose(slot, examples, random, best, context, actions);
  }
  for (size_t i = 0; i < actions.size(); ++i) {
    const Family& family = *impl_->families[examples[i].family];
    actions[i].version = impl_->version;
    actions[i].text =
        family.Write(observations[i].task, observations[i].device.kind, actions[i].ids);
  }
  return actions;
}

Status GrammarPolicy::Load(const std::string& path, PolicyVersion version) {
  ASSIGN_OR_RETURN(const TensorFile file, ReadTensors(path));
  RETURN_IF_ERROR(impl_->network.Load(file));
  impl_->version = version;
  return {};
}

}  // namespace warpsmith
