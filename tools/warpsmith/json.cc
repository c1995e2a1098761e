#include "tools/warpsmith/json.h"

#include "common/model/outcome.h"
#include "common/wire/json.h"

namespace warpsmith {

std::string EvaluationJson(const Evaluation& evaluation) {
  Json json = ToJson(evaluation);
  json["label"] = OutcomeLabel(evaluation.outcome);
  json["describe"] = Describe(evaluation.outcome);
  json["speedup"] = SpeedupOf(evaluation.outcome);
  return JsonLine(json);
}

std::string StatusJson(const RunStatus& status) { return JsonLine(ToJson(status)); }
std::string StatusJson(const ClusterStatus& status) { return JsonLine(ToJson(status)); }

std::string RunJson(const History& history, const BestTable& best) {
  Json json = ToJson(history);
  json["best"] = ToJson(best.rows);
  return JsonLine(json);
}

}  // namespace warpsmith
