// warpsmith-simulate: plays stories of a whole cluster with faults, each from one seed.
//
//   warpsmith-simulate --seed N            one story; exits 1 if an invariant was broken
//   warpsmith-simulate --seeds A..B        every seed from A to B
//   warpsmith-simulate --seed N --verbose  tells what happens
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/parse.h"
#include "tests/simulation/simulation.h"

namespace {

using namespace warpsmith::sim;
using warpsmith::ParseWhole;

uint64_t playing = 0;

// A CHECK that fails ends the process: say whose story it was.
void SayWhoseStory(int) {
  std::fprintf(stderr, "in the story of seed %llu\n", static_cast<unsigned long long>(playing));
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

bool Play(uint64_t seed, bool verbose) {
  playing = seed;
  SimulationOptions options;
  options.seed = seed;
  options.verbose = verbose;
  const auto start = std::chrono::steady_clock::now();
  const SimulationResult result = Simulate(options);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (const std::string& what : result.broken)
    std::printf("seed %llu: broken: %s\n", static_cast<unsigned long long>(seed), what.c_str());
  std::printf(
      "seed %llu %s unseed=%016llx events=%llu faults=%llu trajectories=%llu simulated_s=%.1f "
      "seconds=%.3f\n",
      static_cast<unsigned long long>(seed), result.broken.empty() ? "ok" : "BROKEN",
      static_cast<unsigned long long>(result.unseed),
      static_cast<unsigned long long>(result.events),
      static_cast<unsigned long long>(result.faults),
      static_cast<unsigned long long>(result.trajectories), result.simulated_s, seconds);
  return result.broken.empty();
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 1, last = 1;
  bool verbose = false;
  bool understood = argc > 1;
  for (int i = 1; i < argc && understood; ++i) {
    const std::string flag = argv[i];
    if (flag == "--verbose") {
      verbose = true;
    } else if (flag == "--seed" && i + 1 < argc) {
      const auto seed = ParseWhole<uint64_t>(argv[++i]);
      understood = seed.has_value();
      first = last = seed.value_or(0);
    } else if (flag == "--seeds" && i + 1 < argc) {
      const std::string_view range = argv[++i];
      const size_t dots = std::min(range.find(".."), range.size());
      const auto from = ParseWhole<uint64_t>(range.substr(0, dots));
      const auto to = ParseWhole<uint64_t>(range.substr(std::min(dots + 2, range.size())));
      understood = from && to && *from <= *to;
      first = from.value_or(0);
      last = to.value_or(0);
    } else {
      understood = false;
    }
  }
  if (!understood) {
    std::fprintf(stderr, "usage: warpsmith-simulate (--seed N | --seeds A..B) [--verbose]\n");
    return 2;
  }
  std::signal(SIGABRT, SayWhoseStory);
  bool ok = true;
  for (uint64_t seed = first; seed <= last; ++seed) ok &= Play(seed, verbose);
  return ok ? 0 : 1;
}
