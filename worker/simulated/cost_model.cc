#include "worker/simulated/cost_model.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "common/base/random.h"
#include "common/suite/expression.h"
#include "common/suite/plan_file.h"

namespace warpsmith {
namespace {

// FNV-1a (Fowler, Noll, Vo), for draws that depend on a text.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char byte : text) hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

struct Choices {
  int64_t threads = 1;
  int64_t vector = 1;
  int64_t items = 1;
  bool streaming = false;
  bool fast = false;
  size_t launches = 1;
};

struct Best {
  int64_t threads, vector, items;
  bool sensitive;
};

Best BestFor(const Task& task) {
  Random random(Hash(task.id.value()));
  return {.threads = int64_t{64} << random.Below(4),
          .vector = int64_t{2} << random.Below(3),
          .items = int64_t{1} << random.Below(3),
          .sensitive = random.Chance(0.25)};
}

bool Mentions(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// "kItemsPerThread" is like "items", and like "items_per".
bool NameLike(std::string_view name, std::initializer_list<std::string_view> words) {
  std::string plain;
  for (char c : name) {
    if (c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return Mentions(plain, words);
}

// Numbers that the text names: `let` entries that are numbers, then `constexpr int kName = N`.
std::map<std::string, int64_t> NamedNumbers(const Plan& plan, std::string_view text) {
  std::map<std::string, int64_t> named;
  for (const auto& [name, expression] : plan.let) {
    if (Result<int64_t> value = EvaluateExpression(expression, named)) named[name] = *value;
  }
  constexpr std::string_view kConstant = "constexpr int ";
  for (size_t at = text.find(kConstant); at != std::string_view::npos;
       at = text.find(kConstant, at + 1)) {
    std::string_view rest = text.substr(at + kConstant.size());
    size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals > 64) continue;
    std::string name(rest.substr(0, equals));
    name.erase(name.find_last_not_of(' ') + 1);
    size_t begin = rest.find_first_not_of(' ', equals + 1);
    int64_t value = 0;
    if (begin == std::string_view::npos) continue;
    auto parsed = std::from_chars(rest.data() + begin, rest.data() + rest.size(), value);
    if (parsed.ec == std::errc()) named.try_emplace(std::move(name), value);
  }
  return named;
}

int64_t Like(const std::map<std::string, int64_t>& named,
             std::initializer_list<std::string_view> words) {
  for (const auto& [name, value] : named) {
    if (NameLike(name, words)) return std::clamp<int64_t>(value, 1, 64);
  }
  return 1;
}

// Why the block is no number, or nothing.
std::string ReadBlock(const Plan& plan, const Task& task, Choices* choices) {
  Names names{{"sm_count", 1}, {"warp_size", 32}, {"max_shared", 48 * 1024}};
  for (const Case& one : task.host_cases) {
    if (one.role != CaseRole::kTrain) continue;
    names.insert(one.dims.begin(), one.dims.end());
    break;
  }
  for (const auto& [name, expression] : plan.let) {
    Result<int64_t> value = EvaluateExpression(expression, names);
    if (!value) return "let " + name + ": " + value.error().message;
    names[name] = *value;
  }
  choices->threads = 1;
  for (const std::string& expression : plan.launches.front().block) {
    Result<int64_t> value = EvaluateExpression(expression, names);
    if (!value) return "launch 1: block: " + value.error().message;
    if (*value < 1 || *value > 1024) return "launch 1: block: " + std::to_string(*value);
    choices->threads *= *value;
  }
  if (choices->threads > 1024) return "launch 1: block: over 1024 threads";
  return "";
}

double Distance(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
}

double RelativeTime(const Choices& choices, const Best& best) {
  double time = 0.4 * (1 + 0.25 * Distance(choices.threads, best.threads) +
                       0.30 * Distance(choices.vector, best.vector) +
                       0.15 * Distance(choices.items, best.items));
  if (choices.streaming) time *= 0.92;
  if (choices.fast) time *= 0.95;
  return time + 0.02 * static_cast<double>(choices.launches - 1);
}

Measurement Measure(const Case& timed, double time, Random& random) {
  double noise = std::exp(0.01 * (2 * random.Uniform() - 1));
  double baseline_us = 10;
  for (const auto& [name, size] : timed.dims) {
    baseline_us += 1e-3 * static_cast<double>(size);
  }
  double speedup = noise / time;
  Measurement measurement{.timed_case = timed,
                          .baseline = "simulated",
                          .device_kind = DeviceKind::kSimulated,
                          .candidate_us = baseline_us / speedup,
                          .baseline_us = baseline_us,
                          .speedup = speedup,
                          .speedup_low = speedup / 1.01,
                          .speedup_high = speedup * 1.01,
                          .noise = 0.01};
  measurement.comparison = speedup > 1.03   ? Comparison::kFaster
                           : speedup < 0.97 ? Comparison::kSlower
                                            : Comparison::kTie;
  if (measurement.comparison == Comparison::kTie) measurement.speedup = 1;
  return measurement;
}

Correct Time(const Task& task, Depth depth, double time, uint64_t seed) {
  Correct correct;
  if (depth == Depth::kVerify) return correct;
  Random random(seed);
  double sum = 0;
  for (const Case& one : task.host_cases) {
    bool timed = one.role == CaseRole::kTrain ||
                 (one.role == CaseRole::kHoldout && depth >= Depth::kMeasure);
    if (!timed) continue;
    correct.measurements.push_back(Measure(one, time, random));
    sum += std::log(correct.measurements.back().speedup);
  }
  if (!correct.measurements.empty()) {
    correct.speedup = std::exp(sum / static_cast<double>(correct.measurements.size()));
  }
  return correct;
}

}  // namespace

DeviceFacts SimulatedDevice(int index) {
  return {.kind = DeviceKind::kSimulated,
          .index = index,
          .name = "simulated device",
          .architecture = "simulated",
          .sm_count = 1,
          .memory_bytes = int64_t{1} << 30,
          .l2_bytes = 1 << 20};
}

Outcome SimulatedOutcome(const Task& task, std::string_view text, Depth depth, uint64_t seed) {
  Result<Plan> plan = ParsePlan(text);
  if (!plan) return Rejected{plan.error().message};
  Choices choices{.launches = plan->launches.size()};
  std::string problem = ReadBlock(*plan, task, &choices);
  if (!problem.empty()) return Rejected{problem};
  if (!Mentions(text, {"__global__"})) return CompileError{"no __global__ function"};
  if (Mentions(text, {"#error"})) return CompileError{"#error"};

  const std::map<std::string, int64_t> named = NamedNumbers(*plan, text);
  choices.vector = Like(named, {"vec"});
  choices.items = Like(named, {"items", "unroll", "rowsper"});
  choices.streaming = Mentions(text, {"load_cs", "store_cs", "__ldcs", "__stcs"});
  choices.fast = Mentions(text, {"fast_", "__expf", "__fdividef"});

  const Best best = BestFor(task);
  if (choices.threads * choices.vector * choices.items > 8192) {
    return ResourceError{"registers: " + std::to_string(choices.threads) + " threads hold " +
                         std::to_string(choices.vector * choices.items) + " values each"};
  }
  if (choices.threads < 32 && choices.vector == 8) return LaunchError{"simulated: misaligned"};
  if (choices.fast && best.sensitive) {
    WrongOutputReport report{.reason = "error_bound", .wrong_elements = 1, .elements = 1};
    if (!task.outputs.empty()) report.output = task.outputs.front().name;
    return WrongOutput{report};
  }
  return Time(task, depth, RelativeTime(choices, best),
              MixSeed({seed, Hash(text), Hash(task.id.value())}));
}

}  // namespace warpsmith
