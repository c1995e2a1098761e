#include "common/model/trajectory.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {

std::string ToString(const PolicyVersion& version) {
  return fmt::format("{}.{}", version.incarnation, version.step);
}

std::string ToString(const TrajectoryId& id) {
  return fmt::format("{}/{}/{}", id.run.value(), id.group.value(), id.episode);
}

PolicyVersion OldestVersion(const Trajectory& trajectory) {
  CHECK(!trajectory.turns.empty(), "an episode has at least one turn");
  return std::min_element(
             trajectory.turns.begin(), trajectory.turns.end(),
             [](const Turn& a, const Turn& b) { return a.action.version < b.action.version; })
      ->action.version;
}

}  // namespace warpsmith
