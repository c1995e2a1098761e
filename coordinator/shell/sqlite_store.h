// The store on disk: one SQLite file, WAL, synchronous=FULL. A thread of its own writes; one
// transaction holds every batch that came while the last one was written, so that a sync is shared
// by many. Another thread answers queries beside it. A full disk keeps what was given and tries
// again; the file is locked against a second coordinator.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "common/base/unique_fd.h"
#include "common/runtime/bounded_queue.h"
#include "coordinator/shell/job_store.h"
#include "coordinator/shell/sqlite.h"

namespace warpsmith {

class SqliteStore : public JobStore {
 public:
  struct Options {
    Duration retry = std::chrono::milliseconds(500);  // after a write that failed
  };

  // `directory` holds (or gets) store.sqlite. kExhausted: another coordinator uses it; kCorrupt:
  // the file is damaged or of another version.
  static Result<std::unique_ptr<SqliteStore>> Open(const std::filesystem::path& directory,
                                                   Options options);
  // Finishes what was given, unless the disk is full.
  ~SqliteStore() override;

  Result<Snapshot> BeginEpoch() override;
  void Start(StoreListener listener) override;
  void Write(StoreRecords batch) override;
  void Query(QueryStore query) override;
  Result<std::unique_ptr<StreamReader>> OpenReader() override;

  // A limit on the file's size, as if the disk ended there; 0: none. Thread-safe.
  void LimitBytes(int64_t bytes) { limit_bytes_ = bytes; }

 private:
  SqliteStore(std::filesystem::path path, Options options)
      : path_(std::move(path)), options_(options) {}
  Status Prepare();
  void WriteLoop();
  Status Commit(const std::deque<StoreRecords>& batches);
  void QueryLoop();

  std::filesystem::path path_;
  Options options_;
  UniqueFd lock_;
  std::unique_ptr<Database> database_;  // the writer's
  StoreListener listener_;
  std::atomic<int64_t> limit_bytes_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<StoreRecords> batches_;
  bool stopping_ = false;

  BoundedQueue<QueryStore> queries_{1024};
  std::jthread writer_;
  std::jthread reader_;
};

}  // namespace warpsmith
