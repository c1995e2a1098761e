// The workers that are registered now: what they offer, whether they are heard, and which weights
// they run. A worker is alive, then torpid (silent for a while: no new work), then dead (forgotten;
// its work moves).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "schema/worker.h"

namespace warpsmith {

struct Worker {
  WorkerId id;
  RegisterWorker offer;
  TimePoint heard{};
  bool leaving = false;
  int64_t results = 0;
  std::map<RunId, PolicyVersion> in_use;    // newest version it said it runs
  std::map<RunId, TimePoint> announced;     // when it was first told of the run's newest weights
  std::map<RunId, WeightsRefused> refused;  // newest version that its policy does not take
  std::map<RunId, std::string> cannot_act;  // its policy refuses a task of the run: why

  bool Can(const std::string& policy) const;
  // Whether it will not have the run, or weights of this version or newer ones; what it has goes on
  // working.
  bool Refuses(RunId run, const PolicyVersion& version) const;
  // Index of the device of this kind with the fewest of `load`; nothing: it has none.
  std::optional<int32_t> Device(DeviceKind kind, const std::map<int32_t, size_t>& load) const;
};

// Pure; not shared among threads.
class WorkerTable {
 public:
  WorkerTable(Duration torpid, Duration dead) : torpid_(torpid), dead_(dead) {}

  // A new one, or the same one again (its offer is renewed, what is known of its weights stays).
  Worker& Register(const WorkerId& id, RegisterWorker offer, TimePoint now);
  Worker* Find(const WorkerId& id);
  void Remove(const WorkerId& id);
  // The run has ended: what workers said of it is of no more use.
  void ForgetRun(RunId run);

  bool torpid(const Worker& worker, TimePoint now) const { return now - worker.heard >= torpid_; }
  std::vector<WorkerId> Dead(TimePoint now) const;
  std::optional<TimePoint> NextDeadline() const;

  // The first of these kinds of device that any registered worker with this policy has.
  std::optional<DeviceKind> FirstKind(const std::string& policy,
                                      const std::vector<DeviceKind>& kinds) const;
  std::map<WorkerId, Worker>& all() { return workers_; }
  const std::map<WorkerId, Worker>& all() const { return workers_; }

 private:
  Duration torpid_;
  Duration dead_;
  std::map<WorkerId, Worker> workers_;
};

}  // namespace warpsmith
