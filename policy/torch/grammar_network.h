// A small autoregressive network over slot choices. For slot s, after the choices before it:
//
//   hidden  = silu(trunk(observation) + sum of embeddings of earlier choices + embedding of the
//   slot) logits  = head(hidden) + keep(hidden) * (1 at the best turn's choice)
//
// restricted to the allowed choices of the slot. The last term lets a later turn keep what was good
// and change the rest. Head and keep start at zero, so the untrained policy is uniform.
// A fiftieth of each slot's probability stays uniform for ever: no choice is lost for good.
//
// For libtorch sources only. Thread-compatible; computes on the CPU.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#undef CHECK  // torch's; ours is common/base/check.h

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "policy/core/observation.h"
#include "policy/core/vocabulary.h"
#include "policy/torch/safetensors.h"

namespace warpsmith {

// One observation with, for training, the choices made. `family` is an index into the families.
struct NetworkExample {
  EncodedObservation observation;
  size_t family = 0;
  std::vector<int32_t> ids;                   // one a slot
  std::vector<std::vector<uint8_t>> allowed;  // one mask a slot
};

class GrammarNetwork {
 public:
  // Weights drawn from the seed, the same on every machine.
  GrammarNetwork(const Vocabulary& vocabulary, uint64_t seed);

  // [n, inputs] for Trunk, and [n, tokens]: 1 at the tokens of the best turn.
  std::pair<at::Tensor, at::Tensor> Pack(std::span<const NetworkExample> examples) const;
  // [n, hidden].
  at::Tensor Trunk(const at::Tensor& inputs) const;
  // What a chosen token adds to the hidden state of later slots: [..., hidden] for int64 tokens
  // [...].
  at::Tensor Embed(const at::Tensor& tokens) const;
  // Log-probabilities [..., tokens] where `allowed` [..., tokens] is true, about -1e9 elsewhere.
  // `context` [..., hidden]: trunk and embeddings of earlier tokens; `slots` [...]: SlotIndex.
  at::Tensor LogProbabilities(const at::Tensor& context, const at::Tensor& slots,
                              const at::Tensor& best, const at::Tensor& allowed) const;

  int64_t SlotIndex(size_t family, size_t slot) const { return slot_index_[family] + slot; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  // By name, in a fixed order; they require gradients.
  const std::vector<std::pair<std::string, at::Tensor>>& parameters() const { return parameters_; }

  // Weights and metadata that names the grammar they are for.
  TensorFile Save() const;
  // kInvalidInput: for another grammar, or not all there; then nothing has changed. Tensors of
  // other names are ignored.
  Status Load(const TensorFile& file);

 private:
  at::Tensor& Add(const std::string& name, at::Tensor value);

  Vocabulary vocabulary_;
  std::vector<int64_t> slot_index_;  // of each family's first slot
  std::vector<std::pair<std::string, at::Tensor>> parameters_;
  at::Tensor input_weight_, input_bias_, trunk_weight_, trunk_bias_;
  at::Tensor embedding_, slot_embedding_, head_weight_, head_bias_, keep_weight_;
};

// A tensor's values in row-major order, and back.
NamedTensor ToNamed(const at::Tensor& tensor);
at::Tensor FromNamed(const NamedTensor& tensor);

}  // namespace warpsmith
