#include "common/runtime/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "common/base/check.h"
#include "common/runtime/files.h"

namespace warpsmith {
namespace {

constexpr double kLongestNs = 1e18;  // some 30 years: added to a time it is still one
constexpr double kMostInt = 2147483647.0;
constexpr double kMostWhole = 0x1p53 - 1;  // read as doubles: beyond it they would be rounded

template <typename T>
bool Is(const ConfigTable::Target& target) {
  return std::holds_alternative<T*>(target);
}

double UnitOf(const std::string& name) {
  if (name.ends_with("_ms")) return 1e6;
  CHECK(name.ends_with("_s"), "a duration's name ends in its unit");
  return 1e9;
}

std::string FlagOf(const std::string& name) {
  std::string flag = "--" + name;
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string ValueText(const std::string& name, const ConfigTable::Target& target) {
  if (auto* text = std::get_if<std::string*>(&target)) return Quoted(**text);
  if (auto* number = std::get_if<int*>(&target)) return std::to_string(**number);
  if (auto* number = std::get_if<int64_t*>(&target)) return std::to_string(**number);
  if (auto* number = std::get_if<double*>(&target)) return fmt::format("{}", **number);
  if (auto* flag = std::get_if<bool*>(&target)) return **flag ? "true" : "false";
  const double in_unit = static_cast<double>(std::get<Duration*>(target)->count()) / UnitOf(name);
  return fmt::format("{:.15g}", in_unit);
}

std::string TypeText(const ConfigTable::Target& target) {
  if (Is<std::string>(target)) return "a text";
  if (Is<bool>(target)) return "true or false";
  if (Is<double>(target) || Is<Duration>(target)) return "a number";
  return "a whole number";
}

std::string PositionText(const std::string& file, const toml::source_position& at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

}  // namespace

ConfigTable::ConfigTable(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

void ConfigTable::Add(std::string name, Target field, FieldNotes notes) {
  CHECK(!Find(name), "a field is added once");
  if (Is<Duration>(field)) UnitOf(name);
  fields_.push_back({std::move(name), field, std::move(notes)});
}

ConfigTable::Field* ConfigTable::Find(std::string_view name) {
  auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](auto& f) { return f.name == name; });
  return found == fields_.end() ? nullptr : &*found;
}

void ConfigTable::Problem(const std::string& where, const std::string& what) {
  problems_.push_back(where + ": " + what);
}

Status ConfigTable::Problems() {
  if (problems_.empty()) return {};
  std::string all = fmt::format("{} problem(s) in the configuration of {} (see {} --help)",
                                problems_.size(), program_, program_);
  for (const std::string& problem : problems_) all += "\n  " + problem;
  problems_.clear();
  return Fail(ErrorCode::kInvalidInput, all);
}

void ConfigTable::SetNumber(Field& field, double number, bool whole, const std::string& source) {
  const bool fits = std::isfinite(number) && (!field.notes.least || number >= *field.notes.least) &&
                    (!field.notes.most || number <= *field.notes.most);
  if (!fits) {
    std::string range = field.notes.least ? fmt::format(" at least {}", *field.notes.least) : "";
    if (field.notes.most)
      range += fmt::format("{} at most {}", range.empty() ? "" : " and", *field.notes.most);
    return Problem(source, fmt::format("{} must be{}, not {}", field.name,
                                       range.empty() ? " finite" : range, number));
  }
  if (auto* target = std::get_if<double*>(&field.target)) {
    **target = number;
  } else if (auto* duration = std::get_if<Duration*>(&field.target)) {
    const double nanoseconds = number * UnitOf(field.name);
    if (std::abs(nanoseconds) > kLongestNs) return Problem(source, field.name + " is too large");
    **duration = Duration(std::llround(nanoseconds));
  } else if (!whole) {
    Problem(source, field.name + " must be a whole number");
  } else if (std::abs(number) > (Is<int>(field.target) ? kMostInt : kMostWhole)) {
    Problem(source, field.name + " is too large");
  } else if (auto* wide = std::get_if<int64_t*>(&field.target)) {
    **wide = static_cast<int64_t>(number);
  } else {
    *std::get<int*>(field.target) = static_cast<int>(number);
  }
}

void ConfigTable::SetFromText(Field& field, const std::string& text, const std::string& source) {
  if (auto* target = std::get_if<std::string*>(&field.target)) {
    **target = text;
  } else if (auto* flag = std::get_if<bool*>(&field.target)) {
    if (text != "true" && text != "false")
      return Problem(source, field.name + " must be true or false, not '" + text + "'");
    **flag = text == "true";
  } else {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return Problem(source, field.name + " must be a number, not '" + text + "'");
    SetNumber(field, number, std::trunc(number) == number, source);
  }
}

void ConfigTable::ApplyToml(std::string_view text, const std::string& toml_name) {
  toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return Problem(PositionText(toml_name, parsed.error().source().begin),
                   std::string(parsed.error().description()));

  const std::function<void(const toml::table&, const std::string&)> walk =
      [&](const toml::table& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
          const std::string name = prefix + std::string(key.str());
          const std::string where = PositionText(toml_name, node.source().begin);
          Field* field = Find(name);
          if (!field) {
            if (node.is_table()) {
              walk(*node.as_table(), name + ".");
            } else {
              Problem(where, "there is no setting named " + name);
            }
          } else if (Is<std::string>(field->target) && node.is_string()) {
            **std::get_if<std::string*>(&field->target) = node.as_string()->get();
          } else if (Is<bool>(field->target) && node.is_boolean()) {
            **std::get_if<bool*>(&field->target) = node.as_boolean()->get();
          } else if (!Is<std::string>(field->target) && !Is<bool>(field->target) &&
                     node.is_number()) {
            SetNumber(*field, *node.value<double>(), node.is_integer(), where);
          } else {
            Problem(where, name + " must be " + TypeText(field->target));
          }
        }
      };
  walk(parsed.table(), "");
}

void ConfigTable::ApplyFlags(const std::vector<std::string>& flags) {
  for (size_t i = 0; i < flags.size(); ++i) {
    std::string flag = flags[i];
    std::optional<std::string> value;
    if (const size_t equals = flag.find('='); equals != std::string::npos) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    }
    auto field = std::find_if(fields_.begin(), fields_.end(),
                              [&](const Field& f) { return FlagOf(f.name) == flag; });
    if (field == fields_.end()) {
      Problem(flags[i], "unknown flag");
      const bool has_value = !value && i + 1 < flags.size() && !flags[i + 1].starts_with("--");
      if (has_value) ++i;
      continue;
    }
    if (field->notes.secret) {  // command lines are seen by everybody
      Problem(flag, "is a secret: set " + field->notes.environment);
      if (!value) ++i;
      continue;
    }
    if (!value) {
      if (i + 1 == flags.size()) {
        Problem(flag, "needs a value");
        continue;
      }
      value = flags[++i];
    }
    SetFromText(*field, *value, flag);
  }
}

Status ConfigTable::Apply(std::string_view toml, const std::string& toml_name,
                          const std::function<const char*(const char*)>& environment,
                          const std::vector<std::string>& flags) {
  ApplyToml(toml, toml_name);
  for (Field& field : fields_) {
    if (field.notes.environment.empty()) continue;
    if (const char* value = environment(field.notes.environment.c_str()))
      SetFromText(field, value, field.notes.environment);
  }
  ApplyFlags(flags);
  for (const Field& field : fields_)
    if (field.notes.required && std::get<std::string*>(field.target)->empty())
      Problem(field.name, "must be set: " + field.notes.purpose);
  return Problems();
}

Result<ConfigAction> ConfigTable::Load(int argc, const char* const* argv) {
  std::vector<std::string> flags(argv + std::min(argc, 1), argv + argc);
  std::string file;
  bool help = false, print = false;
  for (size_t i = 0; i < flags.size();) {
    size_t used = 0;
    if (flags[i] == "--help" || flags[i] == "-h") {
      help = true;
      used = 1;
    } else if (flags[i] == "--print-config") {
      print = true;
      used = 1;
    } else if (flags[i] == "--config") {
      if (i + 1 == flags.size()) return Fail(ErrorCode::kInvalidInput, "--config needs a file");
      file = flags[i + 1];
      used = 2;
    }
    const auto at = flags.begin() + static_cast<ptrdiff_t>(i);
    flags.erase(at, at + static_cast<ptrdiff_t>(used));
    if (used == 0) ++i;
  }
  if (help) {
    fmt::print("{}", Help());
    return ConfigAction::kPrinted;
  }
  std::string toml;
  if (!file.empty()) {
    ASSIGN_OR_RETURN(toml, ReadFile(file));
  }
  RETURN_IF_ERROR(Apply(
      toml, file, [](const char* name) { return std::getenv(name); }, flags));
  if (print) fmt::print("{}", Print());
  return print ? ConfigAction::kPrinted : ConfigAction::kRun;
}

std::string ConfigTable::Print() const {
  // TOML wants what belongs to no table first.
  std::map<std::string, std::string> tables;
  for (const Field& field : fields_) {
    const size_t dot = field.name.rfind('.');
    const std::string table = dot == std::string::npos ? "" : field.name.substr(0, dot);
    const std::string key = dot == std::string::npos ? field.name : field.name.substr(dot + 1);
    tables[table] += fmt::format("# {}\n", field.notes.purpose);
    tables[table] += field.notes.secret
                         ? fmt::format("# {} is set by {}\n", key, field.notes.environment)
                         : fmt::format("{} = {}\n", key, ValueText(field.name, field.target));
  }
  std::string text;
  for (const auto& [table, lines] : tables)
    text += table.empty() ? lines : fmt::format("\n[{}]\n{}", table, lines);
  return text;
}

std::string ConfigTable::Help() const {
  std::string text = fmt::format(
      "{}: {}\n\n  --config FILE      read a TOML file\n  --print-config     print what is in "
      "force as "
      "TOML, and end\n\n",
      program_, summary_);
  for (const Field& field : fields_) {
    if (field.notes.secret) {
      text +=
          fmt::format("  environment {}\n      {}\n", field.notes.environment, field.notes.purpose);
      continue;
    }
    text += fmt::format("  {} VALUE\n      {}; default {}", FlagOf(field.name), field.notes.purpose,
                        ValueText(field.name, field.target));
    if (!field.notes.environment.empty()) text += "; environment " + field.notes.environment;
    text += '\n';
  }
  return text;
}

}  // namespace warpsmith
