#include "worker/shell/config.h"

#include <sstream>

namespace warpsmith {

Result<ConfigAction> LoadConfig(int argc, const char* const* argv, WorkerConfig* config) {
  ConfigTable table("warpsmith-worker", "evaluates candidates on this host's devices");
  table.Add("coordinator", &config->coordinator,
            {.purpose = "address of the coordinator: tcp://host:port or ipc:///path",
             .environment = "WARPSMITH_COORDINATOR",
             .required = true});
  table.Add(
      "device", &config->device,
      {.purpose = "auto (every GPU, else the host), cuda, host, or simulated", .required = true});
  table.Add("capacity", &config->capacity,
            {.purpose = "jobs held at once", .least = 1, .most = 1024});
  table.Add("directory", &config->directory,
            {.purpose = "folder for logs, weights and compilers' scratch", .required = true});
  table.Add(
      "compilers", &config->compilers,
      {.purpose = "compiler processes; 0: one a core that no lane owns", .least = 0, .most = 256});
  table.Add("drain_grace_s", &config->drain_grace,
            {.purpose = "after SIGTERM: time to finish before jobs are handed back", .least = 0});
  table.Add("policies", &config->policies,
            {.purpose = "kinds of policy that this worker runs; empty: evaluations only"});
  table.Add("policy_program", &config->policy_program,
            {.purpose = "path of warpsmith-policy; empty: beside this program"});
  table.Add("simulated_devices", &config->simulated_devices,
            {.purpose = "lanes of --device simulated", .least = 1, .most = 64});
  table.Add("simulated_delay_ms", &config->simulated_delay,
            {.purpose = "time that a simulated evaluation takes", .least = 0});
  table.Add("simulated_seed", &config->simulated_seed,
            {.purpose = "seed of the simulated noise", .least = 0});
  table.Add(
      "simulated_trouble", &config->simulated_trouble,
      {.purpose = "probability of a simulated infrastructure failure", .least = 0, .most = 1});
  return table.Load(argc, argv);
}

std::vector<std::string> SplitWords(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace warpsmith
