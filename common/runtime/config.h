// A program's configuration: one struct, each field with a name, default, unit and purpose. A value
// comes from, later ones winning: the default, a TOML file, the environment (addresses and
// secrets), a flag `--field-name value`. All problems are reported at once, and unknown keys are
// refused. CLI11 reads the flags, toml++ the file.
//
//   ConfigTable table("warpsmith-learner", "trains the policies of runs");
//   table.Add("heartbeat_ms", &config.heartbeat, {.purpose = "time between signs of life"});
//   ASSIGN_OR_RETURN(auto action, table.Load(argc, argv));
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace warpsmith {

// Where a coordinator listens, and where others look for it, unless they are told otherwise.
constexpr const char* kDefaultCoordinatorAddress = "tcp://127.0.0.1:7411";

struct FieldNotes {
  std::string purpose;
  std::string environment;      // variable that sets it; empty: none
  std::optional<double> least;  // for numbers and durations, in the unit of the name
  std::optional<double> most;
  bool required = false;  // a text that must not be empty
  bool secret = false;    // from the environment only, never printed
};

enum class ConfigAction { kRun, kPrinted };  // kPrinted: --help or --print-config was answered

class ConfigTable {
 public:
  // Durations: the name ends in _ms or _s, and that is the unit of the number in the file.
  using Target = std::variant<std::string*, int*, int64_t*, double*, bool*, Duration*>;

  ConfigTable(std::string program, std::string summary);

  // The current value of `field` is the default. Names are words with underscores; a dot makes a
  // TOML table of the part before it.
  void Add(std::string name, Target field, FieldNotes notes);

  // `--config FILE`, `--help`, `--print-config`, and a flag for each field. kInvalidInput lists
  // every problem, a line each; otherwise ReadFile's errors and WriteStdout's.
  Result<ConfigAction> Load(int argc, const char* const* argv);

  // The configuration as a TOML file that gives it again, with purposes as comments; secrets left
  // out.
  std::string Print() const;
  std::string Help() const;

 private:
  struct Field {
    std::string name;
    Target target;
    FieldNotes notes;
  };

  struct CommandLine;

  const Field* Find(std::string_view name) const;
  // The field becomes what the text says; `source` begins the message where it cannot.
  void Set(const Field& field, const std::string& text, const std::string& source);
  void SetFromToml(std::string_view text, const std::string& toml_name);
  void SetFromFlags(const CommandLine& line);
  void Problem(const std::string& where, const std::string& what);
  Status Problems();

  std::string program_;
  std::string summary_;
  std::vector<Field> fields_;
  std::vector<std::string> problems_;
};

}  // namespace warpsmith
