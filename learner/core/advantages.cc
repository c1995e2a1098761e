#include "learner/core/advantages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "common/model/outcome.h"

namespace warpsmith {
namespace {

using Returns = std::vector<double>;  // one a turn

Returns OwnReward(const Trajectory& trajectory) {
  Returns returns;
  for (const Turn& turn : trajectory.turns) returns.push_back(turn.reward);
  return returns;
}

Returns RewardToGo(const Trajectory& trajectory) {
  Returns returns(trajectory.turns.size());
  double sum = 0;
  for (size_t t = returns.size(); t-- > 0;) {
    const Turn& turn = trajectory.turns[t];
    if (IsRewarded(turn.evaluation.outcome) && std::isfinite(turn.reward)) sum += turn.reward;
    returns[t] = sum;
  }
  return returns;
}

struct Estimator {
  std::string_view name;
  Returns (*returns)(const Trajectory&);
};
constexpr std::array kEstimators = {Estimator{"trloo", OwnReward},
                                    Estimator{"trloo_to_go", RewardToGo}};

// (value - mean of the others) / max(deviation, floor), for each.
std::vector<double> LeaveOneOut(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / n;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / n;
  const double scale = n / (n - 1) / std::max(std::sqrt(variance), kStandardDeviationFloor);
  std::vector<double> advantages;
  for (const double value : values) advantages.push_back((value - mean) * scale);
  return advantages;
}

}  // namespace

bool IsTrainable(const Turn& turn) {
  const Action& action = turn.action;
  if (!IsRewarded(turn.evaluation.outcome) || !std::isfinite(turn.reward)) return false;
  if (action.log_probs.size() != action.ids.size() || action.mask.size() != action.ids.size())
    return false;
  bool chosen = false;
  for (size_t i = 0; i < action.ids.size(); ++i) {
    if (!std::isfinite(action.log_probs[i]) || action.log_probs[i] > 0) return false;
    chosen = chosen || action.mask[i] != 0;
  }
  return chosen;
}

bool IsTrainable(const Trajectory& trajectory) {
  return std::any_of(trajectory.turns.begin(), trajectory.turns.end(),
                     [](const Turn& turn) { return IsTrainable(turn); });
}

Result<std::vector<std::vector<TurnCredit>>> EstimateAdvantages(std::string_view estimator,
                                                                std::span<const Trajectory> batch) {
  const auto found = std::find_if(kEstimators.begin(), kEstimators.end(),
                                  [&](const Estimator& e) { return e.name == estimator; });
  if (found == kEstimators.end())
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no advantage estimator `{}`: write one of {}", estimator,
                            fmt::join(EstimatorNames(), ", ")));

  std::vector<std::vector<TurnCredit>> credit;
  std::vector<Returns> returns;
  std::map<std::pair<GroupId, size_t>, std::vector<size_t>> peers;  // (group, turn) -> trajectories
  for (size_t i = 0; i < batch.size(); ++i) {
    const auto& turns = batch[i].turns;
    credit.emplace_back(turns.size());
    returns.push_back(found->returns(batch[i]));
    for (size_t t = 0; t < turns.size(); ++t)
      if (IsTrainable(turns[t])) peers[{batch[i].id.group, t}].push_back(i);
  }
  for (const auto& [place, members] : peers) {
    if (members.size() < 2) continue;
    std::vector<double> values;
    for (const size_t i : members) values.push_back(returns[i][place.second]);
    const std::vector<double> advantages = LeaveOneOut(values);
    for (size_t m = 0; m < members.size(); ++m)
      credit[members[m]][place.second] = {.trainable = true, .advantage = advantages[m]};
  }
  return credit;
}

std::vector<std::string_view> EstimatorNames() {
  std::vector<std::string_view> names;
  for (const Estimator& estimator : kEstimators) names.push_back(estimator.name);
  return names;
}

}  // namespace warpsmith
