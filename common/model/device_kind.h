// What a kind of device is: one entry a kind. Who must know something about a kind asks for the
// property that it depends on, never which kind it has before it, so that a new kind is its folder
// (worker/cuda and worker/host show what is in one), its name, an entry here, and a line in the
// mains of oracle, runner and compiler. How candidates are timed follows from these
// properties too (worker/judgement/timing_rules.h). Pure data; any thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/model/dtype.h"

namespace warpsmith {

// Which of a task's lists of cases it takes. What keeps a GPU busy for a moment keeps a CPU busy
// for a minute.
enum class CaseList { kGpu, kHost };

// Where the buffers of a candidate and of its baseline lie, and thereby where libtorch computes.
enum class BufferMemory { kDevice, kHost };

// How a timed run finds its data out of the caches.
enum class ColdCache {
  kByRotation,  // more distinct sets of buffers than the caches hold take turns
  kByFlush,     // each run flushes them first, so that more sets would only take more time
};

// Where the system lists devices that a worker can try to open, without calling a driver.
struct DeviceNodes {
  // They are /dev/<prefix>0, 1, ...; empty: every machine has one, which needs no node.
  const char* prefix = "";
  // Environment variable that lists which of them are visible to a process; empty: all are.
  const char* visible = "";
};

struct DeviceTraits {
  DeviceKind kind = DeviceKind::kHost;
  const char* noun = "";        // "GPU": what a machine without one lacks, for people
  const char* cores_noun = "";  // "SMs": what DeviceFacts::sm_count counts, for people
  CaseList cases = CaseList::kHost;
  BufferMemory memory = BufferMemory::kHost;
  ColdCache cold_cache = ColdCache::kByFlush;
  // Candidates run on cores of the worker's own machine. A lane must be given some, which
  // supervisor and compilers keep off; a baseline has all of these as threads; and the system takes
  // its share of them from oracle and runner all the same, so that noise is no evidence against
  // anybody.
  bool shares_host_cores = false;
  // A cost model inside the supervisor says what would be: no machine has such a device, it needs
  // no compiler, oracle or runner, and nobody is told to get one.
  bool modelled = false;
  DeviceNodes nodes;
};

// Every kind, best first: a figure from a real GPU is worth more than one from a CPU, and that more
// than a model's.
std::span<const DeviceTraits> AllDeviceTraits();

const DeviceTraits& TraitsOf(DeviceKind kind);

// What people may write where a device is chosen: "auto", then the names of every kind, best first.
std::vector<std::string_view> DeviceWords();
// The same without the kinds that are modelled.
std::vector<std::string_view> RealDeviceWords();

}  // namespace warpsmith
