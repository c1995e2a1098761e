// What the coordinator's core is told at its start, besides what its store remembers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace warpsmith {

struct CoordinatorSettings {
  // Where the steady clock of Step stood when the wall clock read `started_wall_ms`: record times
  // are derived from it, so that the core reads no clock.
  TimePoint started{};
  int64_t started_wall_ms = 0;

  std::string redis;  // address of the streams, for learners

  Duration heartbeat = std::chrono::seconds(2);  // peers send one at least so often
  Duration lease = std::chrono::seconds(30);     // a job without progress for so long moves
  Duration torpid = std::chrono::seconds(6);     // silence after which a worker gets no new work
  Duration dead = std::chrono::seconds(30);      // silence after which its work moves
  Duration job_deadline = std::chrono::minutes(30);  // of one attempt, from its grant
  Duration group_deadline = std::chrono::hours(2);   // of a group, from its first grant
  uint32_t max_failures = 5;  // attempts in a row without a result, then given up
  Duration retry_base = std::chrono::milliseconds(500);  // back-off: base * 2^(failures - 1) ...
  Duration retry_cap = std::chrono::seconds(30);         // ... and never more
  Duration repeat = std::chrono::seconds(5);             // of messages that nobody has answered yet
  Duration weights_grace =
      std::chrono::seconds(10);      // a worker may be behind the newest weights so
                                     // long before it is given one job to wait with
  size_t max_unstored_batches = 64;  // above it nothing new is admitted or granted
};

}  // namespace warpsmith
