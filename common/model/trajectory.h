// The record of one episode: up to T candidates of one policy for one task, each with its feedback.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "common/model/outcome.h"

namespace warpsmith {

// Ordered lexicographically; never decreases. {0, 0}: the policy's start, before any training.
struct PolicyVersion {
  uint64_t incarnation = 0;  // of the learner
  uint64_t step = 0;
  auto operator<=>(const PolicyVersion&) const = default;
};

std::string ToString(const PolicyVersion& version);  // "2.140"

// What a policy returned for one observation. ids, log_probs and mask have one length.
struct Action {
  std::vector<int32_t> ids;      // tokens or slot choices, in order
  std::vector<float> log_probs;  // of each id, as sampled
  std::vector<uint8_t> mask;     // 1: chosen by the policy (trainable), 0: forced
  PolicyVersion version;         // the oldest that any id was sampled with
  std::string text;              // the candidate

  bool operator==(const Action&) const = default;
};

struct Turn {
  Action action;
  Evaluation evaluation;
  double reward = 0;  // by the run's reward function; 0 where the outcome is infrastructure

  bool operator==(const Turn&) const = default;
};

// Independent of attempt: the first accepted record of an id wins.
struct TrajectoryId {
  RunId run;
  GroupId group;
  uint32_t episode = 0;
  auto operator<=>(const TrajectoryId&) const = default;
};

std::string ToString(const TrajectoryId& id);  // "run/group/episode"

struct Trajectory {
  TrajectoryId id;
  TaskId task;
  std::vector<Turn> turns;
  DeviceFacts device;
  int64_t finished_at_ms = 0;  // wall clock, for people

  // The oldest version that any turn was sampled with.
  PolicyVersion OldestVersion() const;
  bool operator==(const Trajectory&) const = default;
};

}  // namespace warpsmith
