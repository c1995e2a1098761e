#include "coordinator/shell/memory_store.h"

#include "common/wire/codec.h"

namespace warpsmith {
namespace {

class MemoryReader : public StreamReader {
 public:
  explicit MemoryReader(MemoryStore* store) : store_(store) {}
  Result<std::vector<StreamEntry>> Read(RunId run, uint64_t from, size_t limit) override {
    return store_->Read(run, from, limit);
  }

 private:
  MemoryStore* store_;
};

}  // namespace

Result<Snapshot> MemoryStore::BeginEpoch() {
  std::lock_guard lock(mutex_);
  return image_.BeginEpoch();
}

void MemoryStore::Start(StoreListener listener) { listener_ = std::move(listener); }

void MemoryStore::Write(StoreRecords batch) {
  {
    std::lock_guard lock(mutex_);
    image_.Apply(batch.records);
  }
  listener_.stored(Stored{batch.batch});
}

void MemoryStore::Query(QueryStore query) {
  ClientAnswer answer{query.call.id, {}};
  {
    std::lock_guard lock(mutex_);
    answer.reply = image_.Query(query);
  }
  listener_.answered(query.client, std::move(answer));
}

Result<std::unique_ptr<StreamReader>> MemoryStore::OpenReader() {
  return std::make_unique<MemoryReader>(this);
}

std::vector<StreamEntry> MemoryStore::Read(RunId run, uint64_t from, size_t limit) {
  std::lock_guard lock(mutex_);
  std::vector<StreamEntry> entries;
  for (const TrajectoryAccepted& stored : image_.Stream(run, from, limit))
    entries.push_back({*stored.publish_seq, Encode(stored.trajectory)});
  return entries;
}

}  // namespace warpsmith
