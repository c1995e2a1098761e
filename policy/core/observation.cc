#include "policy/core/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "common/base/check.h"
#include "common/base/parse.h"
#include "common/model/device_kind.h"
#include "common/model/outcome.h"
#include "policy/core/reference.h"

namespace warpsmith {
namespace {

// Functions whose presence tells operations apart: cheap, transcendental, reducing.
constexpr std::array<std::string_view, 16> kMarkers = {
    "div", "exp",  "tanh",    "sigmoid",     "gelu",     "silu",       "relu",      "sqrt",
    "sum", "mean", "softmax", "log_softmax", "rms_norm", "layer_norm", "transpose", "amax"};

// Appends one after another; the total is checked against kFeatures once.
class Features {
 public:
  void Add(double value) {
    values_.push_back(static_cast<float>(std::isfinite(value) ? std::clamp(value, -4.0, 4.0) : 0));
  }
  void Flag(bool value) { Add(value ? 1 : 0); }
  void OneHot(size_t index, size_t count) {
    for (size_t i = 0; i < count; ++i) Flag(i == index);
  }
  // Sizes from 1 to 2^32 map to [0, 2].
  void Log2(double value) { Add(std::log2(std::max(value, 1.0)) / 16); }

  std::vector<float> Take() {
    CHECK(values_.size() <= kFeatures, "kFeatures must hold every feature");
    values_.resize(kFeatures, 0);
    return std::move(values_);
  }

 private:
  std::vector<float> values_;
};

// A size that is a number or the name of a dim; other expressions are left out of the features.
std::optional<int64_t> SimpleSize(const std::string& text, const Dims& dims) {
  if (const auto found = dims.find(text); found != dims.end()) return found->second;
  return ParseWhole<int64_t>(text);
}

void CollectCalls(const Expr& expr, std::vector<std::string_view>& names) {
  if (expr.kind == ExprKind::kCall) names.push_back(expr.name);
  for (const ExprPtr& arg : expr.args) CollectCalls(*arg, names);
}

void AddTask(const Task& task, DeviceKind device, Features& features) {
  features.OneHot(task.inputs.empty() ? 10 : static_cast<size_t>(task.inputs[0].dtype), 10);
  features.Add(static_cast<double>(task.inputs.size()) / 4);
  features.Add(static_cast<double>(task.scalars.size()) / 4);

  const auto reference = ParseReference(task.reference);
  std::vector<std::string_view> calls;  // in the tree above
  if (reference)
    for (const ExprPtr& result : reference->results) CollectCalls(*result, calls);
  for (const std::string_view marker : kMarkers)
    features.Flag(std::find(calls.begin(), calls.end(), marker) != calls.end());
  features.Add(static_cast<double>(calls.size()) / 8);

  // The shape of the first case that is timed: rows (all dims but the last) and columns.
  const auto& cases = CasesOf(task, device);
  const auto timed = std::find_if(cases.begin(), cases.end(),
                                  [](const Case& c) { return c.role == CaseRole::kTrain; });
  double rows = 1;
  int64_t columns = 1;
  if (timed != cases.end() && !task.inputs.empty()) {
    const auto& shape = task.inputs[0].shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int64_t size = std::max<int64_t>(SimpleSize(shape[i], timed->dims).value_or(1), 1);
      if (i + 1 == shape.size()) {
        columns = size;
      } else {
        rows *= static_cast<double>(size);
      }
    }
  }
  features.Log2(rows);
  features.Log2(static_cast<double>(columns));
  for (const int64_t divisor : {2, 4, 8}) features.Flag(columns % divisor == 0);
}

void AddDevice(const DeviceFacts& device, Features& features) {
  features.OneHot(static_cast<size_t>(device.kind), AllDeviceTraits().size());
  features.Log2(device.sm_count);
  features.Log2(static_cast<double>(device.l2_bytes) / 1024);
}

// Speed-ups of 1/8 to 8 map to [-1, 1].
double LogSpeedup(const Outcome& outcome) {
  const double speedup = SpeedupOf(outcome);
  return speedup > 0 ? std::log2(speedup) / 3 : 0;
}

// Outcomes by their number in the schema, less what came after the network's input was laid out:
// that is told as the last of these, which says nothing of the candidate.
constexpr size_t kOutcomes = 11;
size_t PlaceOf(const Outcome& outcome) {
  const size_t number = outcome.index() - 1;  // Unrecognized stands first
  return std::min(number, kOutcomes - 1);
}

const Turn* BestTurn(std::span<const Turn> turns) {
  const Turn* best = nullptr;
  for (const Turn& turn : turns) {
    if (!IsCorrect(turn.evaluation.outcome)) continue;
    if (!best || SpeedupOf(turn.evaluation.outcome) > SpeedupOf(best->evaluation.outcome))
      best = &turn;
  }
  return best;
}

}  // namespace

EncodedObservation Encode(const Task& task, const DeviceFacts& device,
                          std::span<const Turn> turns) {
  Features features;
  AddTask(task, device.kind, features);
  AddDevice(device, features);

  features.Add(static_cast<double>(turns.size()) / 4);
  const Turn* best = BestTurn(turns);
  features.Flag(best != nullptr);
  features.Add(best ? LogSpeedup(best->evaluation.outcome) : 0);
  features.OneHot(turns.empty() ? kOutcomes : PlaceOf(turns.back().evaluation.outcome), kOutcomes);
  features.Add(turns.empty() ? 0 : LogSpeedup(turns.back().evaluation.outcome));

  EncodedObservation encoded{.features = features.Take()};
  if (best) encoded.best = best->action.ids;
  if (!turns.empty()) encoded.last = turns.back().action.ids;
  return encoded;
}

Status CheckChoices(const Family& family, const Task& task, std::span<const int32_t> ids) {
  const auto& slots = family.slots();
  if (ids.size() != slots.size())
    return Fail(ErrorCode::kInvalidInput, fmt::format("{} has {} slots, the action {} ids",
                                                      family.name(), slots.size(), ids.size()));
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto choice = static_cast<size_t>(ids[i]);
    if (ids[i] < 0 || choice >= slots[i].choices.size() ||
        !family.Allowed(task, i, ids.first(i))[choice])
      return Fail(ErrorCode::kInvalidInput, fmt::format("{}: {} is no allowed choice of {}",
                                                        family.name(), ids[i], slots[i].name));
  }
  return {};
}

}  // namespace warpsmith
