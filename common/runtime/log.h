// One line an event on standard error, as machines and people read it:
//   2026-11-30T05:31:57.123Z info learner checkpoint_saved run=3 version=2.140
// The event is a word; values are quoted where they hold anything but plain characters, so that no
// text of a candidate can forge a line. The same key for the same thing everywhere: run, job,
// worker, task, version, why, path. Level by WARPSMITH_LOG: debug, info (default), warn, error.
// Thread-safe.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/core.h"
#include "common/base/ids.h"

namespace warpsmith {

struct LogField {
  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(v) {}
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, bool v) : key(k), value(v ? "true" : "false") {}
  LogField(std::string_view k, double v);
  template <std::integral Int>
  LogField(std::string_view k, Int v) : key(k), value(std::to_string(v)) {}
  template <typename Tag, typename Rep>
  LogField(std::string_view k, const Id<Tag, Rep>& v) : LogField(k, v.value()) {}

  std::string_view key;
  std::string value;
};

enum class LogLevel { kDebug, kInfo, kWarn, kError };

// Once, first in main. `component` is the program's word: "coordinator", "worker", ... Standard
// descriptors that are closed are taken, so that nothing else becomes one of them.
void InitLog(std::string_view component);

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
// For fields whose number is not known when written.
void LogList(LogLevel level, std::string_view event, const std::vector<LogField>& fields);
// What a core has to say.
void Log(const LogLine& line);

inline void LogDebug(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kDebug, event, fields);
}
inline void LogInfo(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, event, fields);
}
inline void LogWarn(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarn, event, fields);
}
inline void LogError(std::string_view event, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, event, fields);
}

// The event and its fields as they stand in a line.
std::string FormatEvent(std::string_view event, std::initializer_list<LogField> fields);

}  // namespace warpsmith
