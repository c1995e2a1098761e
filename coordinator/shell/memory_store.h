// A store that forgets when its process ends: for tests. Batches are durable at once.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "coordinator/core/store_image.h"
#include "coordinator/shell/job_store.h"

namespace warpsmith {

// Thread-safe.
class MemoryStore : public JobStore {
 public:
  explicit MemoryStore(std::string cluster) : image_(std::move(cluster)) {}

  Result<Snapshot> BeginEpoch() override;
  void Start(StoreListener listener) override;
  void Write(StoreRecords batch) override;
  void Query(QueryStore query) override;
  Result<std::unique_ptr<StreamReader>> OpenReader() override;  // must not outlive the store

  std::vector<StreamEntry> Read(RunId run, uint64_t from, size_t limit);

 private:
  std::mutex mutex_;
  StoreImage image_;
  StoreListener listener_;
};

}  // namespace warpsmith
