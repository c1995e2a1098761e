#include "policy/torch/grammar_network.h"

#include <cmath>
#include <numbers>

#include "common/base/random.h"

namespace warpsmith {
namespace {

constexpr int64_t kHidden = 64;
constexpr float kMasked = -1e9f;
// Without it long runs of small batches settle on the first good kernel that they see. At 0.02 the
// best kernel of a run gets better and the mean is not worse (measured on the simulated device).
constexpr double kExploration = 0.02;
constexpr const char* kFormat = "warpsmith.grammar.1";

// Normal values by Box and Muller, from our own generator: torch's differs between versions.
at::Tensor Normal(Random& random, std::vector<int64_t> shape, double deviation) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  float* values = tensor.data_ptr<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
    const double angle = 2 * std::numbers::pi * random.Uniform();
    values[i] = static_cast<float>(deviation * radius * std::cos(angle));
  }
  return tensor;
}

std::string Fingerprint(const Vocabulary& vocabulary) {
  return std::to_string(vocabulary.fingerprint());
}

}  // namespace

GrammarNetwork::GrammarNetwork(const Vocabulary& vocabulary, uint64_t seed)
    : vocabulary_(vocabulary) {
  int64_t slots = 0;
  for (size_t family = 0; family < vocabulary_.families(); ++family) {
    slot_index_.push_back(slots);
    slots += static_cast<int64_t>(vocabulary_.slots(family));
  }
  const int64_t tokens = vocabulary_.size();
  const int64_t inputs = static_cast<int64_t>(kFeatures + vocabulary_.families()) + 2 * tokens;
  Random random(seed);
  const double in = 1 / std::sqrt(static_cast<double>(kFeatures)), hidden = 1 / std::sqrt(kHidden);
  input_weight_ = Add("input.weight", Normal(random, {kHidden, inputs}, in));
  input_bias_ = Add("input.bias", at::zeros({kHidden}));
  trunk_weight_ = Add("trunk.weight", Normal(random, {kHidden, kHidden}, hidden));
  trunk_bias_ = Add("trunk.bias", at::zeros({kHidden}));
  embedding_ = Add("embedding.weight", Normal(random, {tokens, kHidden}, 0.3));
  slot_embedding_ = Add("slot.weight", Normal(random, {slots, kHidden}, 0.3));
  head_weight_ = Add("head.weight", at::zeros({tokens, kHidden}));
  head_bias_ = Add("head.bias", at::zeros({tokens}));
  keep_weight_ = Add("keep.weight", at::zeros({1, kHidden}));
}

at::Tensor& GrammarNetwork::Add(const std::string& name, at::Tensor value) {
  value.set_requires_grad(true);
  parameters_.emplace_back(name, std::move(value));
  return parameters_.back().second;
}

std::pair<at::Tensor, at::Tensor> GrammarNetwork::Pack(
    std::span<const NetworkExample> examples) const {
  const auto n = static_cast<int64_t>(examples.size());
  const auto tokens = static_cast<size_t>(vocabulary_.size());
  at::Tensor inputs = at::zeros({n, input_weight_.size(1)});
  at::Tensor best = at::zeros({n, vocabulary_.size()});
  for (int64_t i = 0; i < n; ++i) {
    const NetworkExample& example = examples[static_cast<size_t>(i)];
    float* row = inputs[i].data_ptr<float>();
    float* best_row = best[i].data_ptr<float>();
    std::copy(example.observation.features.begin(), example.observation.features.end(), row);
    row += kFeatures;
    row[example.family] = 1;
    row += vocabulary_.families();
    const auto mark = [&](const std::vector<int32_t>& choices, float* where) {
      // Records of another grammar have another number of choices, or choices that do not exist.
      if (choices.size() != vocabulary_.slots(example.family)) return;
      for (size_t slot = 0; slot < choices.size(); ++slot)
        if (choices[slot] >= 0 && choices[slot] < vocabulary_.choices(example.family, slot))
          where[vocabulary_.first(example.family, slot) + choices[slot]] = 1;
    };
    mark(example.observation.best, row);
    mark(example.observation.best, best_row);
    mark(example.observation.last, row + tokens);
  }
  return {inputs, best};
}

at::Tensor GrammarNetwork::Trunk(const at::Tensor& inputs) const {
  const at::Tensor first = at::silu(at::linear(inputs, input_weight_, input_bias_));
  return at::linear(first, trunk_weight_, trunk_bias_);
}

at::Tensor GrammarNetwork::Embed(const at::Tensor& tokens) const {
  return at::embedding(embedding_, tokens);
}

at::Tensor GrammarNetwork::LogProbabilities(const at::Tensor& context, const at::Tensor& slots,
                                            const at::Tensor& best,
                                            const at::Tensor& allowed) const {
  const at::Tensor hidden = at::silu(context + at::embedding(slot_embedding_, slots));
  const at::Tensor logits =
      at::linear(hidden, head_weight_, head_bias_) + at::linear(hidden, keep_weight_) * best;
  const at::Tensor learned = at::softmax(at::where(allowed, logits, at::full({}, kMasked)), -1);
  const at::Tensor open = allowed.to(at::kFloat);
  const at::Tensor uniform = open / open.sum(-1, true).clamp_min(1);
  // The bound keeps the gradient of what is not allowed finite.
  const at::Tensor mixed = (learned * (1 - kExploration) + uniform * kExploration).clamp_min(1e-12);
  return at::where(allowed, at::log(mixed), at::full({}, kMasked));
}

TensorFile GrammarNetwork::Save() const {
  TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"grammar", Fingerprint(vocabulary_)},
                   {"features", std::to_string(kFeatures)}};
  for (const auto& [name, value] : parameters_) file.tensors[name] = ToNamed(value);
  return file;
}

Status GrammarNetwork::Load(const TensorFile& file) {
  const auto says = [&](const char* key, const std::string& expected) {
    const auto found = file.metadata.find(key);
    return found != file.metadata.end() && found->second == expected;
  };
  if (!says("format", kFormat) || !says("grammar", Fingerprint(vocabulary_)) ||
      !says("features", std::to_string(kFeatures)))
    return Fail(ErrorCode::kInvalidInput,
                "these weights are for another grammar: train anew with this version");
  for (const auto& [name, value] : parameters_) {
    const auto found = file.tensors.find(name);
    if (found == file.tensors.end() || at::IntArrayRef(found->second.shape) != value.sizes())
      return Fail(ErrorCode::kInvalidInput,
                  "the weights have no " + name + " of this network's size");
    for (const float number : found->second.values)
      if (!std::isfinite(number)) return Fail(ErrorCode::kInvalidInput, name + " is not finite");
  }
  const c10::NoGradGuard no_gradient;
  for (auto& [name, value] : parameters_) value.copy_(FromNamed(file.tensors.at(name)));
  return {};
}

NamedTensor ToNamed(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().contiguous();
  const float* values = plain.data_ptr<float>();
  return {.shape = plain.sizes().vec(), .values = {values, values + plain.numel()}};
}

at::Tensor FromNamed(const NamedTensor& tensor) {
  at::Tensor result = at::empty(tensor.shape, at::kFloat);
  CHECK(result.numel() == static_cast<int64_t>(tensor.values.size()), "the values fill the shape");
  std::copy(tensor.values.begin(), tensor.values.end(), result.data_ptr<float>());
  return result;
}

}  // namespace warpsmith
