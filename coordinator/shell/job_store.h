// The truth, as a seam: SQLite (sqlite_store.h) or memory (memory_store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "coordinator/core/event.h"

namespace warpsmith {

// Called from the store's threads, or from inside the call; must not block.
struct StoreListener {
  std::function<void(Stored)> stored;
  std::function<void(StoreHealth)> health;
  std::function<void(const ClientId&, ClientAnswer)> answered;
};

// One trajectory of a run's stream: its place and the encoded Trajectory.
struct StreamEntry {
  uint64_t publish_seq = 0;
  std::string payload;
};

// Reads streams beside the store's own work. One thread owns it.
class StreamReader {
 public:
  virtual ~StreamReader() = default;
  // Up to `limit` entries from place `from` on, in order; only what is durable.
  virtual Result<std::vector<StreamEntry>> Read(RunId run, uint64_t from, size_t limit) = 0;
};

// Threads: one calls Write and Query.
class JobStore {
 public:
  virtual ~JobStore() = default;

  // First, once: makes a new epoch durable and gives all that is known.
  virtual Result<Snapshot> BeginEpoch() = 0;
  // Second, once: from now on batches are taken and answers given.
  virtual void Start(StoreListener listener) = 0;

  // Batches become durable in order. One that cannot be written now is kept and tried again for
  // ever; `health` tells.
  virtual void Write(StoreRecords batch) = 0;
  // The answer comes by `answered`, from a state with everything stored before this call.
  virtual void Query(QueryStore query) = 0;

  virtual Result<std::unique_ptr<StreamReader>> OpenReader() = 0;
};

}  // namespace warpsmith
