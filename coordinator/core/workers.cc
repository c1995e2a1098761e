#include "coordinator/core/workers.h"

#include <algorithm>

namespace warpsmith {

bool Worker::Can(const std::string& policy) const {
  return std::find(offer.policies.begin(), offer.policies.end(), policy) != offer.policies.end();
}

bool Worker::Refuses(RunId run, const PolicyVersion& version) const {
  if (cannot_act.contains(run)) return true;
  if (version == PolicyVersion{}) return false;  // needs no weights
  const auto used = in_use.find(run);
  if (used != in_use.end() && used->second >= version) return false;
  const auto found = refused.find(run);
  return found != refused.end() && found->second.version >= version;
}

std::optional<int32_t> Worker::Device(DeviceKind kind,
                                      const std::map<int32_t, size_t>& load) const {
  std::optional<int32_t> best;
  size_t best_load = 0;
  for (size_t i = 0; i < offer.devices.size(); ++i) {
    if (offer.devices[i].kind != kind) continue;
    const auto found = load.find(static_cast<int32_t>(i));
    const size_t here = found == load.end() ? 0 : found->second;
    if (best && here >= best_load) continue;
    best = static_cast<int32_t>(i);
    best_load = here;
  }
  return best;
}

Worker& WorkerTable::Register(const WorkerId& id, RegisterWorker offer, TimePoint now) {
  Worker& worker = workers_[id];
  worker.id = id;
  worker.offer = std::move(offer);
  worker.heard = now;
  return worker;
}

Worker* WorkerTable::Find(const WorkerId& id) {
  const auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : &found->second;
}

void WorkerTable::Remove(const WorkerId& id) { workers_.erase(id); }

void WorkerTable::ForgetRun(RunId run) {
  for (auto& [id, worker] : workers_) {
    worker.in_use.erase(run);
    worker.announced.erase(run);
    worker.refused.erase(run);
    worker.cannot_act.erase(run);
  }
}

std::vector<WorkerId> WorkerTable::Dead(TimePoint now) const {
  std::vector<WorkerId> dead;
  for (const auto& [id, worker] : workers_)
    if (now - worker.heard >= dead_) dead.push_back(id);
  return dead;
}

std::optional<TimePoint> WorkerTable::NextDeadline() const {
  std::optional<TimePoint> next;
  for (const auto& [id, worker] : workers_)
    if (!next || worker.heard + dead_ < *next) next = worker.heard + dead_;
  return next;
}

std::optional<DeviceKind> WorkerTable::FirstKind(const std::string& policy,
                                                 const std::vector<DeviceKind>& kinds) const {
  for (DeviceKind kind : kinds)
    for (const auto& [id, worker] : workers_)
      if (worker.Can(policy) && worker.Device(kind, {})) return kind;
  return std::nullopt;
}

}  // namespace warpsmith
