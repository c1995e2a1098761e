// Records as people read them on a terminal.
#pragma once

#include <string>

#include "schema/client.h"

namespace warpsmith {

// Outcome, measurements, resources and times of one evaluation; several lines.
std::string ShowEvaluation(const Evaluation& evaluation);

// Runs, workers and servers.
std::string ShowCluster(const ClusterStatus& cluster);

// A row a task: outcomes, and the best candidate with its figures.
std::string ShowBest(const BestTable& best);

// "NVIDIA H200 (cuda)".
std::string DeviceName(const DeviceFacts& device);

// The exit status that an evaluation's outcome gives: see commands.h.
int EvaluationStatus(const Outcome& outcome);

}  // namespace warpsmith
