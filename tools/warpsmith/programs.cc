#include "tools/warpsmith/programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"

namespace warpsmith {
namespace {

bool CanRun(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

bool HasMatplotlib(const std::string& python) {
  SubprocessOptions options;
  options.argv = {python, "-c", "import matplotlib, numpy"};
  options.stdout_path = options.stderr_path = "/dev/null";
  auto child = Subprocess::Start(options);
  if (!child) return false;
  const auto exit = child->Wait(std::chrono::seconds(60));
  return exit && exit->status == 0;
}

}  // namespace

Result<std::string> OwnProgram(const std::string& name) {
  const auto path = ProgramDirectory() / name;
  if (CanRun(path)) return path.string();
  return Fail(ErrorCode::kMissing,
              fmt::format("{} is not there: build everything (cmake --build --preset release)",
                          path.string()));
}

Result<std::string> SystemProgram(const std::string& name) {
  if (const auto beside = ProgramDirectory() / name; CanRun(beside)) return beside.string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const auto candidate = std::filesystem::path(folder) / name; CanRun(candidate))
      return candidate.string();
  return Fail(ErrorCode::kMissing, name + " is not installed: run tools/setup");
}

Result<std::string> PythonWithPictures() {
  const char* set = std::getenv("WARPSMITH_PYTHON");
  if (set && *set) return std::string(set);
  if (std::string built = WARPSMITH_BUILD_VENV "/bin/python3"; CanRun(built)) return built;
  ASSIGN_OR_RETURN(auto python, SystemProgram("python3"));
  if (HasMatplotlib(python)) return python;
  return Fail(ErrorCode::kMissing,
              "no Python with matplotlib: run tools/setup, or name one with "
              "WARPSMITH_PYTHON");
}

}  // namespace warpsmith
