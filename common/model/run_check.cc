#include "common/model/run_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace warpsmith {
namespace {

constexpr AlgorithmNumber<int> kIntegers[] = {
    {"turns", &Algorithm::turns, 1, 64},
    {"group", &Algorithm::group, 2, 1024},  // leaving one out needs another
    {"batch_episodes", &Algorithm::batch_episodes, 2, 65536},
    {"staleness", &Algorithm::staleness, 0, 1024},
    {"epochs", &Algorithm::epochs, 1, 64},
};
constexpr AlgorithmNumber<double> kReals[] = {
    {"learning_rate", &Algorithm::learning_rate, 0, 1},
    {"clip_low", &Algorithm::clip_low, 0, 1},
    {"clip_high", &Algorithm::clip_high, 0, 10},
    {"importance_cap", &Algorithm::importance_cap, 1, 1000},
    {"entropy", &Algorithm::entropy, 0, 10},
};
constexpr std::string_view kAdvantages[] = {"trloo", "trloo_to_go"};
constexpr std::string_view kPolicies[] = {"grammar", "random"};

template <typename T>
Status CheckNumber(std::string_view name, T value, T low, T high) {
  if (value >= low && value <= high) return {};
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("algorithm.{}: {} is not in {} to {}", name, value, low, high));
}

Status CheckWord(std::string_view field, const std::string& word,
                 std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return {};
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: '{}' is not one of {}", field, word, fmt::join(known, ", ")));
}

}  // namespace

std::span<const AlgorithmNumber<int>> AlgorithmIntegers() { return kIntegers; }
std::span<const AlgorithmNumber<double>> AlgorithmReals() { return kReals; }
std::span<const std::string_view> AdvantageNames() { return kAdvantages; }
std::span<const std::string_view> PolicyNames() { return kPolicies; }

Status CheckPolicyAndAlgorithm(const RunSpec& spec) {
  RETURN_IF_ERROR(CheckWord("policy.kind", spec.policy, kPolicies));
  RETURN_IF_ERROR(CheckWord("algorithm.advantage", spec.algorithm.advantage, kAdvantages));
  for (const auto& [name, value, low, high] : kIntegers) {
    const bool alone = value == &Algorithm::group && !Learns(spec);
    RETURN_IF_ERROR(CheckNumber(name, spec.algorithm.*value, alone ? 1 : low, high));
  }
  for (const auto& [name, value, low, high] : kReals)
    RETURN_IF_ERROR(CheckNumber(name, spec.algorithm.*value, low, high));
  return {};
}

}  // namespace warpsmith
