// A small adapter to SQLite: a connection with its prepared statements, errors as Status. A
// statement's text is prepared once; parameters are bound in order.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace warpsmith {

// Bytes to be bound as a blob; a plain string is bound as text. Must live until the statement has
// run.
struct Blob {
  std::string_view bytes;
};

// A result row; valid inside the callback only.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  int64_t Int(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const { return sqlite3_column_double(statement_, column); }
  bool Null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string Text(int column) const;  // or blob
  // Ids are unsigned here and signed in SQLite.
  uint64_t Id(int column) const { return static_cast<uint64_t>(Int(column)); }

 private:
  sqlite3_stmt* statement_;
};

// One thread owns a connection.
class Database {
 public:
  // Makes the file where it is missing, unless read-only.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, bool read_only);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Statements without parameters and rows, separated by semicolons.
  Status Execute(const std::string& sql);

  template <typename... Args>
  Status Run(const char* sql, const Args&... args) {
    return Each(
        sql, [](const Row&) { return Status(); }, args...);
  }

  // Calls `each` for every row, until it fails.
  template <typename... Args>
  Status Each(const char* sql, const std::function<Status(const Row&)>& each, const Args&... args) {
    ASSIGN_OR_RETURN(sqlite3_stmt * statement, Prepare(sql));
    int index = 0;
    (Bind(statement, ++index, args), ...);
    return Finish(statement, each);
  }

 private:
  explicit Database(std::string path) : path_(std::move(path)) {}
  Result<sqlite3_stmt*> Prepare(const char* sql);
  Status Finish(sqlite3_stmt* statement, const std::function<Status(const Row&)>& each);
  tl::unexpected<Error> Failure(int code) const;

  static void Bind(sqlite3_stmt* s, int i, int64_t v) { sqlite3_bind_int64(s, i, v); }
  static void Bind(sqlite3_stmt* s, int i, uint64_t v) {
    sqlite3_bind_int64(s, i, static_cast<int64_t>(v));
  }
  static void Bind(sqlite3_stmt* s, int i, int v) { sqlite3_bind_int64(s, i, v); }
  static void Bind(sqlite3_stmt* s, int i, uint32_t v) { sqlite3_bind_int64(s, i, v); }
  static void Bind(sqlite3_stmt* s, int i, bool v) { sqlite3_bind_int64(s, i, v); }
  static void Bind(sqlite3_stmt* s, int i, double v) { sqlite3_bind_double(s, i, v); }
  static void Bind(sqlite3_stmt* s, int i, const std::string& v) {
    sqlite3_bind_text64(s, i, v.data(), v.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  static void Bind(sqlite3_stmt* s, int i, const char* v) {
    sqlite3_bind_text(s, i, v, -1, SQLITE_STATIC);
  }
  static void Bind(sqlite3_stmt* s, int i, const Blob& v) {
    sqlite3_bind_blob64(s, i, v.bytes.data(), v.bytes.size(), SQLITE_STATIC);
  }
  static void Bind(sqlite3_stmt* s, int i, std::nullopt_t) { sqlite3_bind_null(s, i); }
  template <typename T>
  static void Bind(sqlite3_stmt* s, int i, const std::optional<T>& v) {
    if (v) {
      Bind(s, i, *v);
    } else {
      sqlite3_bind_null(s, i);
    }
  }

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

}  // namespace warpsmith
