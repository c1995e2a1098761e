#include "common/runtime/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>

namespace warpsmith {
namespace {

constexpr size_t kMaxValueBytes = 2000;

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

spdlog::level::level_enum LevelFromEnvironment() {
  const char* wanted = std::getenv("WARPSMITH_LOG");
  const std::string_view level = wanted ? wanted : "info";
  if (level == "debug") return spdlog::level::debug;
  if (level == "warn") return spdlog::level::warn;
  if (level == "error") return spdlog::level::err;
  return spdlog::level::info;
}

bool Plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return c > ' ' && c < 127 && c != '"' && c != '=' && c != '\\';
  });
}

void AppendQuoted(std::string& line, std::string_view value) {
  line += '"';
  for (unsigned char c : value) {
    if (c == '"' || c == '\\') {
      line += '\\';
      line += static_cast<char>(c);
    } else if (c == '\n') {
      line += "\\n";
    } else if (c < ' ' || c == 127) {
      line += fmt::format("\\x{:02x}", c);
    } else {
      line += static_cast<char>(c);
    }
  }
  line += '"';
}

spdlog::logger& Logger() {
  static spdlog::logger logger("", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return logger;
}

}  // namespace

LogField::LogField(std::string_view k, double v) : key(k), value(fmt::format("{:.6g}", v)) {}

namespace {

std::string Format(std::string_view event, std::span<const LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    const auto value = std::string_view(field.value).substr(0, kMaxValueBytes);
    if (Plain(value)) {
      line += value;
    } else {
      AppendQuoted(line, value);
    }
  }
  return line;
}

void Write(LogLevel level, std::string_view event, std::span<const LogField> fields) {
  spdlog::logger& logger = Logger();
  if (logger.should_log(LevelOf(level))) logger.log(LevelOf(level), Format(event, fields));
}

}  // namespace

std::string FormatEvent(std::string_view event, std::initializer_list<LogField> fields) {
  return Format(event, {fields.begin(), fields.size()});
}

void InitLog(std::string_view component) {
  // Else a file or socket that is opened later takes the closed one's number, and what is meant for
  // people goes into it. Reading from the first and writing to the others still fails.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  spdlog::logger& logger = Logger();
  logger.set_pattern(fmt::format("%Y-%m-%dT%H:%M:%S.%eZ %l {} %v", component),
                     spdlog::pattern_time_type::utc);
  logger.set_level(LevelFromEnvironment());
  logger.flush_on(spdlog::level::debug);
}

void Log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Write(level, event, {fields.begin(), fields.size()});
}

void LogList(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  Write(level, event, fields);
}

void Log(const LogLine& line) {
  std::vector<LogField> fields;
  for (const auto& [key, value] : line.fields)
    if (!value.empty()) fields.emplace_back(key, value);
  LogList(line.warning ? LogLevel::kWarn : LogLevel::kInfo, line.event, fields);
}

}  // namespace warpsmith
