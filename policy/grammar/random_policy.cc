#include "policy/grammar/random_policy.h"

#include <algorithm>
#include <cmath>

#include "common/base/random.h"

namespace warpsmith {

Result<std::vector<Action>> RandomPolicy::Act(std::span<const Observation> observations) {
  std::vector<Action> actions;
  for (const Observation& observation : observations) {
    ASSIGN_OR_RETURN(const Family* const family, FindFamily(families_, observation.task));
    Random random(observation.seed);
    Action action;
    for (size_t slot = 0; slot < family->slots().size(); ++slot) {
      const std::vector<uint8_t> allowed = family->Allowed(observation.task, slot, action.ids);
      const auto count = std::count(allowed.begin(), allowed.end(), 1);
      const std::vector<double> weights(allowed.begin(), allowed.end());
      action.ids.push_back(static_cast<int32_t>(random.Weighted(weights)));
      action.log_probs.push_back(-std::log(static_cast<float>(count)));
      action.mask.push_back(count > 1);
    }
    action.text = family->Write(observation.task, observation.device.kind, action.ids);
    actions.push_back(std::move(action));
  }
  return actions;
}

Status RandomPolicy::Load(const std::string&, PolicyVersion) {
  return Fail(ErrorCode::kInvalidInput, "the random policy has no weights to load");
}

}  // namespace warpsmith
