// The words of the small enums, in one place, as schema, logs, metrics and pages write them.
#include <array>

#include "common/base/check.h"
#include "common/model/learner_protocol.h"
#include "common/model/outcome.h"
#include "common/model/run.h"

namespace warpsmith {
namespace {

template <typename Enum, size_t N>
const char* Word(Enum value, const std::array<const char*, N>& words) {
  const auto index = static_cast<size_t>(value);
  CHECK(index < N, "every alternative has a word");
  return words[index];
}

}  // namespace

const char* ToString(CaseRole role) { return Word(role, std::array{"train", "holdout", "edge"}); }

const char* ToString(ParameterType type) {
  return Word(type, std::array{"pointer", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                               "int64", "uint64", "float32", "float64", "float16", "bfloat16",
                               "bool", "unsupported"});
}

size_t SizeOf(ParameterType type) {
  constexpr std::array<size_t, 15> kSizes{8, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 2, 1, 0};
  return kSizes[static_cast<size_t>(type)];
}

const char* ToString(Validity validity) {
  return Word(validity, std::array{"valid", "noisy", "throttled", "clocks_unverified"});
}

const char* ToString(Comparison comparison) {
  return Word(comparison, std::array{"faster", "slower", "tie"});
}

const char* ToString(Stage stage) {
  return Word(stage, std::array{"admit", "compile", "load", "verify", "screen", "measure",
                                "confirm", "profile"});
}

const char* ToString(ViolationKind kind) {
  return Word(kind, std::array{"input_modified", "out_of_bounds", "uneven", "time_forged",
                               "implausible", "disturbs"});
}

const char* ToString(InfrastructureKind kind) {
  return Word(kind, std::array{"worker_lost", "device_lost", "device_sick", "driver", "disk",
                               "clocks_unverified", "too_noisy", "unsupported_architecture",
                               "out_of_memory", "internal"});
}

const char* ToString(Depth depth) {
  return Word(depth, std::array{"verify", "screen", "measure", "confirm"});
}

const char* ToString(RewardKind kind) {
  return Word(kind, std::array{"milestone", "hybrid", "speedup"});
}

std::optional<RewardKind> ParseRewardKind(std::string_view name) {
  for (auto kind : {RewardKind::kMilestone, RewardKind::kHybrid, RewardKind::kSpeedup})
    if (name == ToString(kind)) return kind;
  return std::nullopt;
}

const char* ToString(RunState state) {
  return Word(state, std::array{"running", "finishing", "complete", "cancelled", "failed"});
}

const char* ToString(Fate fate) { return Word(fate, std::array{"trained", "stale", "dropped"}); }

}  // namespace warpsmith
