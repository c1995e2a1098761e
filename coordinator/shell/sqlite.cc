#include "coordinator/shell/sqlite.h"

namespace warpsmith {
namespace {

constexpr int kBusyTimeoutMs = 5000;

ErrorCode CodeOf(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM: return ErrorCode::kExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::kCorrupt;
    case SQLITE_CANTOPEN: return ErrorCode::kNotFound;
    default: return ErrorCode::kInternal;
  }
}

const char* Advice(ErrorCode code) {
  switch (code) {
    case ErrorCode::kExhausted: return " (free disk space; it is tried again)";
    case ErrorCode::kUnavailable: return " (another process holds the file)";
    case ErrorCode::kCorrupt: return " (restore the file from a backup)";
    default: return "";
  }
}

}  // namespace

std::string Row::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), size);
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, bool read_only) {
  std::unique_ptr<Database> database(new Database(path));
  const int flags =
      (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) |
      SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &database->handle_, flags, nullptr);
  if (code != SQLITE_OK) return database->Failure(code);
  sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  return database;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  return {};
}

Result<sqlite3_stmt*> Database::Prepare(const char* sql) {
  const auto known = statements_.find(std::string_view(sql));
  if (known != statements_.end()) return known->second;
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return Failure(code);
  statements_.emplace(sql, statement);
  return statement;
}

Status Database::Finish(sqlite3_stmt* statement, const std::function<Status(const Row&)>& each) {
  Status status;
  for (;;) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) {
      status = Failure(code);
      break;
    }
    status = each(Row(statement));
    if (!status) break;
  }
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return status;
}

tl::unexpected<Error> Database::Failure(int code) const {
  const ErrorCode kind = CodeOf(code);
  const std::string what = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  return Fail(kind, path_ + ": " + what + Advice(kind));
}

}  // namespace warpsmith
