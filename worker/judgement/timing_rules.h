// How candidates are timed on a kind of device: what follows from its properties
// (common/model/device_kind.h), in numbers. Where a candidate has its device to itself, whatever is
// odd about its times is its own; where it shares cores with the system, much of it is not, and a
// verdict needs more. docs/decisions/host-timing.md says where the host's numbers come from.
#pragma once

#include "common/base/clock.h"
#include "common/model/dtype.h"
#include "worker/judgement/statistics.h"

namespace warpsmith {

struct TimingRules {
  // ---- how much is timed
  Duration screen_budget = std::chrono::milliseconds(1500);  // StoppingOptions::budget of a screen
  // A candidate that a screen finds below this speed-up needs no second digit; 0: none is so slow.
  double clearly_slower = 0;
  // Where what the criterion is content with would be too noisy to count, blocks go on up to these:
  // they settle what a fresh start would only repeat.
  size_t blocks_if_noisy = 0;

  // ---- what noise excuses
  NoiseRule noise;
  UnevenRule uneven;
  int uneven_loads = 2;               // fresh loads that must be uneven before it is a violation
  bool uneven_only_if_valid = false;  // a noisy measurement accuses nobody of being uneven

  // ---- what a baseline may take beside a candidate (BlockIsVoid)
  // Share of its candidate-free median that counts as its sigma at least: what others take of the
  // cores, while a thread that a candidate left behind would take half of one.
  double least_free_sigma = 0;
  double hand_over_us = 0;  // a run: a hand-over leaves the baseline's own code and data cold

  // ---- how long runs may take by the oracle's clock, against what the runner said of them
  double wall_factor = 1.03;
  double wall_slack_us = 5;  // what a launch costs the runner's own process
  // Others may have a share of the core, which the wall clock counts and the runs' times do not:
  // how large it is now is found out, and allowed for.
  bool wall_is_crowded = false;

  // ---- how long a runner may take for one verification run, besides what the baseline takes
  Duration run_slack = std::chrono::milliseconds(2000);
};

const TimingRules& TimingRulesFor(DeviceKind kind);

}  // namespace warpsmith
