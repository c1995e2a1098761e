// How a trajectory and a policy's version are named, and what follows from them.
#pragma once

#include <string>

#include "schema/trajectory.h"

namespace warpsmith {

std::string ToString(const PolicyVersion& version);  // "2.140"
std::string ToString(const TrajectoryId& id);        // "run/group/episode"

// The oldest version that any turn was sampled with. There must be a turn.
PolicyVersion OldestVersion(const Trajectory& trajectory);

}  // namespace warpsmith
