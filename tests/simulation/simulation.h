// A whole cluster in one thread: the coordinator's core, workers' cores, a learner, Redis, a disk
// and a network between them, with faults drawn from one seed. After a while the faults heal, and
// everything that was submitted has to end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tests/simulation/network.h"

namespace warpsmith::sim {

// How often what happens, on average, while there is chaos. Zero: never.
struct FaultOptions {
  Duration coordinator_crash = std::chrono::seconds(15);
  Duration coordinator_freeze = std::chrono::seconds(40);
  Duration worker_crash = std::chrono::seconds(8);
  Duration device_sick = std::chrono::seconds(6);
  Duration learner_crash = std::chrono::seconds(12);
  Duration partition = std::chrono::seconds(6);
  Duration disk_full = std::chrono::seconds(30);
  Duration redis_away = std::chrono::seconds(25);
  Duration redis_wipe = std::chrono::seconds(12);
};

struct SimulationOptions {
  uint64_t seed = 1;
  bool verbose = false;  // tell the story on standard output
  FaultOptions faults;
  NetworkOptions network;
  Duration evaluation{};                         // what each takes besides; the lease is 4 s
  bool a_device_hangs = false;                   // of one worker: it answers nothing, ever
  Duration chaos = std::chrono::seconds(60);     // simulated
  Duration patience = std::chrono::minutes(20);  // simulated, after the faults have healed
};

struct SimulationResult {
  std::vector<std::string> broken;  // invariants; empty: all held
  uint64_t unseed = 0;              // a last draw: two stories of a seed must give the same one
  uint64_t events = 0;
  uint64_t faults = 0;
  uint64_t trajectories = 0;
  uint64_t leases_lost = 0;  // whose workers had told of no progress
  double simulated_s = 0;
};

SimulationResult Simulate(const SimulationOptions& options);

}  // namespace warpsmith::sim
