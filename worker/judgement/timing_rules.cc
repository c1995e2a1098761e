#include "worker/judgement/timing_rules.h"

#include "common/model/device_kind.h"

namespace warpsmith {
namespace {

// The device is the lane's alone: the defaults.
constexpr TimingRules kOwnDevice;

constexpr TimingRules kSharedCores{
    .screen_budget = std::chrono::milliseconds(250),
    // Half the baseline's speed is far from a champion.
    .clearly_slower = 0.5,
    .blocks_if_noisy = 48,
    .noise = {.most_spread = 0.5, .most_noise = 0.15, .decided_excuses_noise = true},
    // Slower to accuse: every block must show it.
    .uneven = {.resolution_us = 50, .least_blocks = 5, .agreeing = 1},
    .uneven_loads = 3,
    .uneven_only_if_valid = true,
    .least_free_sigma = 0.5 / 3,
    .hand_over_us = 15,
    .wall_factor = 1.5,
    .wall_slack_us = 30,
    .wall_is_crowded = true,
    .run_slack = std::chrono::milliseconds(1500)};

}  // namespace

const TimingRules& TimingRulesFor(DeviceKind kind) {
  return TraitsOf(kind).shares_host_cores ? kSharedCores : kOwnDevice;
}

}  // namespace warpsmith
