#include "coordinator/shell/sqlite_store.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "common/base/random.h"
#include "common/runtime/files.h"
#include "common/runtime/log.h"
#include "coordinator/shell/sqlite_queries.h"
#include "coordinator/shell/sqlite_records.h"
#include "coordinator/shell/sqlite_schema.h"

namespace warpsmith {
namespace {

class SqliteReader : public StreamReader {
 public:
  explicit SqliteReader(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  Result<std::vector<StreamEntry>> Read(RunId run, uint64_t from, size_t limit) override {
    return ReadStream(*database_, run, from, limit);
  }

 private:
  std::unique_ptr<Database> database_;
};

Result<int64_t> ReadInt(Database& db, const char* sql) {
  int64_t value = 0;
  RETURN_IF_ERROR(db.Each(sql, [&](const Row& row) -> Status {
    value = row.Int(0);
    return {};
  }));
  return value;
}

// kUnavailable stays here: nobody else writes while we hold the lock, so it passes.
bool PassesByItself(ErrorCode code) {
  return code == ErrorCode::kExhausted || code == ErrorCode::kUnavailable;
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::filesystem::path& directory,
                                                       Options options) {
  RETURN_IF_ERROR(MakeDirectories(directory));
  std::unique_ptr<SqliteStore> store(new SqliteStore(directory / "store.sqlite", options));
  ASSIGN_OR_RETURN(store->lock_, LockDirectory(directory, "coordinator"));
  ASSIGN_OR_RETURN(store->database_, Database::Open(store->path_.string(), false));
  RETURN_IF_ERROR(store->Prepare());
  return store;
}

Status SqliteStore::Prepare() {
  Database& db = *database_;
  RETURN_IF_ERROR(
      db.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                 "PRAGMA foreign_keys = ON; PRAGMA cache_size = -32768"));
  ASSIGN_OR_RETURN(const int64_t version, ReadInt(db, "PRAGMA user_version"));
  if (version == kSchemaVersion) return {};
  if (version > kSchemaVersion || version < 0)
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: has format {}, this release reads {} and earlier ones: use the "
                            "release that wrote it",
                            path_.string(), version, kSchemaVersion));
  RETURN_IF_ERROR(db.Execute("BEGIN IMMEDIATE"));
  if (version > 0) {
    for (int64_t from = version; from < kSchemaVersion; ++from)
      RETURN_IF_ERROR(db.Execute(kMigrations[from - 1]));
    RETURN_IF_ERROR(db.Execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion)));
    RETURN_IF_ERROR(db.Execute("COMMIT"));
    LogInfo("store_migrated",
            {{"path", path_.string()}, {"from", version}, {"to", kSchemaVersion}});
    return {};
  }
  RETURN_IF_ERROR(db.Execute(kSchema));
  RETURN_IF_ERROR(db.Run("INSERT INTO meta VALUES ('epoch', 0)"));
  RETURN_IF_ERROR(db.Run("INSERT INTO meta VALUES ('cluster', ?)",
                         fmt::format("{:012x}", SecretSeed() & 0xffffffffffff)));
  RETURN_IF_ERROR(db.Execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion)));
  return db.Execute("COMMIT");
}

SqliteStore::~SqliteStore() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  queries_.Close();
}

Result<Snapshot> SqliteStore::BeginEpoch() {
  RETURN_IF_ERROR(database_->Run("UPDATE meta SET value = value + 1 WHERE key = 'epoch'"));
  ASSIGN_OR_RETURN(Snapshot snapshot, ReadSnapshot(*database_));
  RETURN_IF_ERROR(database_->Each("SELECT key, value FROM meta", [&](const Row& row) -> Status {
    if (row.Text(0) == "epoch") snapshot.epoch = row.Id(1);
    if (row.Text(0) == "cluster") snapshot.cluster = row.Text(1);
    return {};
  }));
  return snapshot;
}

void SqliteStore::Start(StoreListener listener) {
  listener_ = std::move(listener);
  writer_ = std::jthread([this] { WriteLoop(); });
  reader_ = std::jthread([this] { QueryLoop(); });
}

void SqliteStore::Write(StoreRecords batch) {
  {
    std::lock_guard lock(mutex_);
    batches_.push_back(std::move(batch));
  }
  wake_.notify_all();
}

void SqliteStore::Query(QueryStore query) {
  const ClientId client = query.client;
  const uint64_t id = query.call.id;
  if (queries_.TryPush(std::move(query))) return;
  listener_.answered(client, {id, RequestFailed{ToString(ErrorCode::kUnavailable),
                                                "too many questions at once: ask again"}});
}

Result<std::unique_ptr<StreamReader>> SqliteStore::OpenReader() {
  ASSIGN_OR_RETURN(auto database, Database::Open(path_.string(), true));
  return std::make_unique<SqliteReader>(std::move(database));
}

// ---- the writer

Status SqliteStore::Commit(const std::deque<StoreRecords>& batches) {
  Database& db = *database_;
  ASSIGN_OR_RETURN(const int64_t page_bytes, ReadInt(db, "PRAGMA page_size"));
  const int64_t limit = limit_bytes_;
  RETURN_IF_ERROR(db.Execute(
      fmt::format("PRAGMA max_page_count = {}", limit > 0 ? limit / page_bytes : INT32_MAX)));
  RETURN_IF_ERROR(db.Execute("BEGIN IMMEDIATE"));
  for (const StoreRecords& batch : batches) RETURN_IF_ERROR(WriteRecords(db, batch.records));
  return db.Execute("COMMIT");
}

void SqliteStore::WriteLoop() {
  std::deque<StoreRecords> taken;
  bool healthy = true;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (healthy) {
        wake_.wait(lock, [&] { return stopping_ || !batches_.empty(); });
      } else {
        wake_.wait_for(lock, options_.retry, [&] { return stopping_; });
      }
      if (stopping_ && (batches_.empty() || !healthy)) return;
      std::move(batches_.begin(), batches_.end(), std::back_inserter(taken));
      batches_.clear();
    }
    const Status status = Commit(taken);
    if (!status) {
      // A full disk may have rolled back by itself; then there is nothing to roll back.
      (void)database_->Execute("ROLLBACK");
      CHECK(PassesByItself(status.error().code), status.error().message);
      if (healthy) listener_.health({false, status.error().message});
      healthy = false;
      continue;
    }
    const uint64_t last = taken.back().batch;
    taken.clear();
    if (!healthy) listener_.health({true, ""});
    healthy = true;
    listener_.stored(Stored{last});
  }
}

// ---- the reader

void SqliteStore::QueryLoop() {
  auto database = Database::Open(path_.string(), true);
  while (auto query = queries_.Pop()) {
    ClientAnswer answer{query->call.id, {}};
    Result<ClientReply> reply = database ? AnswerQuery(**database, *query)
                                         : Result<ClientReply>(tl::unexpected(database.error()));
    if (reply) {
      answer.reply = std::move(*reply);
    } else {
      LogWarn("query_failed", {{"why", reply.error().message}});
      answer.reply = RequestFailed{ToString(reply.error().code), reply.error().message};
    }
    listener_.answered(query->client, std::move(answer));
  }
}

}  // namespace warpsmith
