// The plain struct that an untrusted parser returned; see plan_file.h.
#include <fmt/format.h>

#include "common/suite/expression.h"
#include "common/suite/plan_file.h"

namespace warpsmith {
namespace {

Status Expressions(const std::vector<std::string>& texts, size_t at_least, size_t at_most,
                   const char* what) {
  if (texts.size() < at_least || texts.size() > at_most)
    return Fail(ErrorCode::kInvalidInput, fmt::format("{}: {} entries", what, texts.size()));
  for (const auto& text : texts) {
    if (const auto status = CheckExpression(text); !status) return Wrap(status.error(), what);
  }
  return {};
}

Status Name(const std::string& name, const char* what) {
  if (IsIdentifier(name) && !IsReservedName(name)) return {};
  return Fail(ErrorCode::kInvalidInput, fmt::format("{}: not a name", what));
}

}  // namespace

Status CheckPlan(const Plan& plan) {
  if (plan.let.size() > kMaxPlanLets || plan.launches.empty() ||
      plan.launches.size() > kMaxLaunches || plan.temps.size() > kMaxPlanTemps)
    return Fail(ErrorCode::kInvalidInput, "too many or too few let, launches or temps");
  for (const auto& [name, text] : plan.let) {
    RETURN_IF_ERROR(Name(name, "let"));
    RETURN_IF_ERROR(Expressions({text}, 1, 1, "let"));
  }
  for (const auto& launch : plan.launches) {
    RETURN_IF_ERROR(CheckKernelName(launch.kernel));
    RETURN_IF_ERROR(Expressions(launch.grid, 1, 3, "grid"));
    RETURN_IF_ERROR(Expressions(launch.block, 1, 3, "block"));
    RETURN_IF_ERROR(Expressions({launch.shared}, 1, 1, "shared"));
    RETURN_IF_ERROR(Expressions(launch.cluster, 0, 3, "cluster"));
    RETURN_IF_ERROR(Expressions(launch.args, 0, kMaxArguments, "args"));
  }
  for (const auto& temp : plan.temps) {
    RETURN_IF_ERROR(Name(temp.name, "temps"));
    RETURN_IF_ERROR(Expressions(temp.shape, 0, kMaxPlanRank, "shape"));
  }
  if (plan.zero.size() > kMaxArguments)
    return Fail(ErrorCode::kInvalidInput, "zero: too many names");
  for (const auto& name : plan.zero) RETURN_IF_ERROR(Name(name, "zero"));
  return {};
}

}  // namespace warpsmith
