#include "common/runtime/config.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "common/base/check.h"
#include "common/base/parse.h"
#include "common/runtime/files.h"

namespace warpsmith {
namespace {

// Beyond these a number, read as a double, would be rounded, or would overflow what it is added to.
constexpr double kMostWhole = 0x1p53 - 1;
constexpr double kLongestNs = 1e18;  // some 30 years

template <typename T>
bool Is(const ConfigTable::Target& target) {
  return std::holds_alternative<T*>(target);
}

// Of what is in the file, in nanoseconds.
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

std::string ValueText(const std::string& name, const ConfigTable::Target& target) {
  return std::visit(
      [&](const auto* value) -> std::string {
        using T = std::decay_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, std::string>)
          return (std::ostringstream() << toml::value<std::string>(*value)).str();
        else if constexpr (std::is_same_v<T, Duration>)
          return fmt::format("{:.15g}", static_cast<double>(value->count()) / UnitOf(name));
        else
          return fmt::format("{}", *value);
      },
      target);
}

std::string TypeText(const ConfigTable::Target& target) {
  if (Is<std::string>(target)) return "a text";
  if (Is<bool>(target)) return "true or false";
  if (Is<double>(target) || Is<Duration>(target)) return "a number";
  return "a whole number";
}

// What the file says, as a flag would; nothing where no setting can be of this type.
std::optional<std::string> TextOf(const toml::node& node, const ConfigTable::Target& target) {
  if (node.is_string() != Is<std::string>(target) || node.is_boolean() != Is<bool>(target))
    return std::nullopt;
  if (node.is_string()) return node.as_string()->get();
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  if (!node.is_number()) return std::nullopt;
  return fmt::format("{}", *node.value<double>());
}

std::string PositionText(const std::string& file, const toml::source_position& at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

}  // namespace

// The command line, read and explained by CLI11: texts, which Set makes values of after those of
// the file and the environment.
struct ConfigTable::CommandLine {
  explicit CommandLine(const ConfigTable& table) : app(table.summary_, table.program_) {
    app.allow_extras();
    config = app.add_option("--config")->type_name("FILE")->description("read a TOML file");
    print = app.add_flag("--print-config")->description("print what is in force as TOML, and end");
    std::string secrets;
    for (const Field& field : table.fields_) {
      const FieldNotes& notes = field.notes;
      std::string about =
          fmt::format("{}; default {}", notes.purpose, ValueText(field.name, field.target));
      if (!notes.environment.empty()) about += "; environment " + notes.environment;
      options.push_back(app.add_option(FlagOf(field.name))->type_name("VALUE")->description(about));
      if (!notes.secret) continue;
      options.back()->group("");  // not shown
      secrets += fmt::format("\nEnvironment {}: {}", notes.environment, notes.purpose);
    }
    for (CLI::Option* option : app.get_options()) option->take_last();
    app.footer(secrets);
  }

  CLI::App app;
  CLI::Option *config, *print;
  std::vector<CLI::Option*> options;  // one a field, in their order
};

ConfigTable::ConfigTable(std::string program, std::string summary)
    : program_(std::move(program)), summary_(std::move(summary)) {}

void ConfigTable::Add(std::string name, Target field, FieldNotes notes) {
  CHECK(!Find(name), "a field is added once");
  if (Is<Duration>(field)) UnitOf(name);
  fields_.push_back({std::move(name), field, std::move(notes)});
}

const ConfigTable::Field* ConfigTable::Find(std::string_view name) const {
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

void ConfigTable::Set(const Field& field, const std::string& text, const std::string& source) {
  if (auto* target = std::get_if<std::string*>(&field.target)) {
    **target = text;
    return;
  }
  if (auto* flag = std::get_if<bool*>(&field.target)) {
    if (text != "true" && text != "false")
      return Problem(source, field.name + " must be true or false, not '" + text + "'");
    **flag = text == "true";
    return;
  }
  const auto number = ParseWhole<double>(text);
  const bool fraction = Is<double>(field.target) || Is<Duration>(field.target);
  const double unit = Is<Duration>(field.target) ? UnitOf(field.name) : 1;
  if (!number || !std::isfinite(*number) || (!fraction && std::trunc(*number) != *number))
    return Problem(
        source, fmt::format("{} must be {}, not '{}'", field.name, TypeText(field.target), text));
  const auto& [least, most] = std::pair(field.notes.least, field.notes.most);
  if ((least && *number < *least) || (most && *number > *most))
    return Problem(source, fmt::format("{} must be{}{}{}, not {}", field.name,
                                       least ? fmt::format(" at least {}", *least) : "",
                                       least && most ? " and" : "",
                                       most ? fmt::format(" at most {}", *most) : "", text));
  std::visit(
      [&](auto* value) {
        using T = std::decay_t<decltype(*value)>;
        double limit = kMostWhole;
        if constexpr (std::is_same_v<T, Duration>) limit = kLongestNs;
        if constexpr (std::is_same_v<T, int> || std::is_same_v<T, double>)
          limit = static_cast<double>(std::numeric_limits<T>::max());
        if (std::abs(*number * unit) > limit) return Problem(source, field.name + " is too large");
        if constexpr (std::is_same_v<T, Duration>) *value = Duration(std::llround(*number * unit));
        if constexpr (std::is_arithmetic_v<T>) *value = static_cast<T>(*number);
      },
      field.target);
}

void ConfigTable::SetFromToml(std::string_view text, const std::string& toml_name) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return Problem(PositionText(toml_name, parsed.error().source().begin),
                   std::string(parsed.error().description()));

  const std::function<void(const toml::table&, const std::string&)> walk =
      [&](const toml::table& table, const std::string& prefix) {
        for (const auto& [key, node] : table) {
          const std::string name = prefix + std::string(key.str());
          const std::string where = PositionText(toml_name, node.source().begin);
          const Field* field = Find(name);
          if (!field && node.is_table()) {
            walk(*node.as_table(), name + ".");
          } else if (!field) {
            Problem(where, "there is no setting named " + name);
          } else if (const auto value = TextOf(node, field->target)) {
            Set(*field, *value, where);
          } else {
            Problem(where, name + " must be " + TypeText(field->target));
          }
        }
      };
  walk(parsed.table(), "");
}

void ConfigTable::SetFromFlags(const CommandLine& line) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (line.options[i]->empty()) continue;
    const Field& field = fields_[i];
    if (field.notes.secret)  // command lines are seen by everybody
      Problem(FlagOf(field.name), "is a secret: set " + field.notes.environment);
    else
      Set(field, line.options[i]->results().back(), FlagOf(field.name));
  }
  bool may_be_value = false;  // of the unknown flag before it
  for (const std::string& word : line.app.remaining()) {
    const bool flag = word.starts_with("--");
    if (flag || !may_be_value) Problem(word, "unknown flag");
    may_be_value = flag && word.find('=') == std::string::npos;
  }
}

Result<ConfigAction> ConfigTable::Load(int argc, const char* const* argv) {
  CommandLine line(*this);
  std::vector<std::string> words;  // the last one first, as CLI11 takes them
  for (int i = argc - 1; i > 0; --i) {
    words.emplace_back(argv[i]);
    if (!words.back().starts_with("--") || !words.back().ends_with('=')) continue;
    words.back().clear();  // CLI11 would take the next word for the empty value of "--name="
    words.push_back(std::string(argv[i], std::strlen(argv[i]) - 1));
  }
  try {
    line.app.parse(words);
  } catch (const CLI::CallForHelp&) {
    RETURN_IF_ERROR(WriteStdout(Help()));
    return ConfigAction::kPrinted;
  } catch (const CLI::ParseError& e) {  // the last flag lacks its value; all others are read
    problems_.push_back(e.what());
  }
  if (!line.config->empty()) {
    const std::string file = line.config->results().back();
    ASSIGN_OR_RETURN(const std::string toml, ReadFile(file));
    SetFromToml(toml, file);
  }
  for (const Field& field : fields_)
    if (const char* value = std::getenv(field.notes.environment.c_str()))
      Set(field, value, field.notes.environment);
  SetFromFlags(line);
  for (const Field& field : fields_)
    if (field.notes.required && std::get<std::string*>(field.target)->empty())
      Problem(field.name, "must be set: " + field.notes.purpose);
  RETURN_IF_ERROR(Problems());
  if (line.print->empty()) return ConfigAction::kRun;
  RETURN_IF_ERROR(WriteStdout(Print()));
  return ConfigAction::kPrinted;
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

std::string ConfigTable::Help() const { return CommandLine(*this).app.help(); }

}  // namespace warpsmith
