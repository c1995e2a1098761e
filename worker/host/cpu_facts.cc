#include "worker/host/cpu_facts.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "worker/host/runtime/protocol.h"

namespace warpsmith {
namespace {

// The rest of the first line of `path` that starts with `key`.
std::string LineAfter(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

// "32768K" -> bytes.
int64_t ReadSize(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) return 0;
  const int64_t number = std::atoll(text.c_str());
  const char unit = text.back();
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

int64_t LastLevelCacheBytes() {
  int64_t bytes = 0;
  for (int i = 0; i < 5; ++i)
    bytes = std::max(
        bytes, ReadSize("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/size"));
  return bytes;
}

}  // namespace

int64_t PrivateCacheBytes() {
  const std::string caches = "/sys/devices/system/cpu/cpu0/cache/index";
  for (int i = 0; i < 5; ++i) {
    const std::string cache = caches + std::to_string(i);
    if (LineAfter((cache + "/level").c_str(), "") == "2") return ReadSize(cache + "/size");
  }
  return 0;
}

int LaneCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, static_cast<int>(host::kMaxHostWorkers));
}

DeviceFacts HostFacts(int index) {
  DeviceFacts facts;
  facts.kind = DeviceKind::kHost;
  facts.index = index;
  facts.name = LineAfter("/proc/cpuinfo", "model name");
  if (facts.name.empty()) facts.name = "x86-64 CPU";
  facts.architecture = "x86_64";
  facts.sm_count = LaneCores();
  facts.max_threads_per_block = host::kMaxHostThreads;
  facts.max_shared_bytes = host::kMaxHostShared;
  facts.memory_bytes = std::atoll(LineAfter("/proc/meminfo", "MemTotal").c_str()) * 1024;
  facts.l2_bytes = LastLevelCacheBytes();
  facts.clock_mode = ClockMode::kObserved;
  utsname system{};
  if (uname(&system) == 0) facts.driver = std::string(system.sysname) + " " + system.release;
  facts.toolkit = "g++ shim";
  return facts;
}

}  // namespace warpsmith
