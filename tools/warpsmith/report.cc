// warpsmith report: one HTML page with pictures of runs. The page is made by tools/report/report.py
// from what the coordinator tells; this command fetches and hands over.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "common/runtime/subprocess.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/json.h"
#include "tools/warpsmith/programs.h"

namespace warpsmith {
namespace {

constexpr Duration kFetchLimit = std::chrono::seconds(60);
constexpr Duration kDrawLimit = std::chrono::minutes(5);

Result<std::vector<RunId>> ChosenRuns(Client& client, const std::vector<uint64_t>& named) {
  std::vector<RunId> runs;
  for (const uint64_t run : named) runs.emplace_back(run);
  if (!runs.empty()) return runs;
  ASSIGN_OR_RETURN(const auto cluster, client.Ask<ClusterStatus>(GetCluster{}));
  RunId learning;
  RunId random;
  for (const auto& run : cluster.runs) {
    auto& newest = run.policy == "random" ? random : learning;
    newest = std::max(newest, run.run);
  }
  if (learning.value() > 0) runs.push_back(learning);
  if (random.value() > 0) runs.push_back(random);
  if (runs.empty())
    return Fail(ErrorCode::kNotFound,
                "no run was submitted yet: start one with `warpsmith run FILE`");
  return runs;
}

}  // namespace

Result<int> RunReport(const ReportOptions& options) {
  ASSIGN_OR_RETURN(const auto python, PythonWithPictures());
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  ASSIGN_OR_RETURN(const auto runs, ChosenRuns(client, options.runs));
  ASSIGN_OR_RETURN(const auto scratch, TempDirectory::Make("warpsmith-report"));
  SubprocessOptions draw;
  draw.argv = {python, (ShareDirectory() / "report" / "report.py").string(), "-o", options.output};
  for (const RunId run : runs) {
    ASSIGN_OR_RETURN(const auto history, client.Ask<History>(GetHistory{run}, kFetchLimit));
    ASSIGN_OR_RETURN(const auto best, client.Ask<BestTable>(GetBest{run}, kFetchLimit));
    const auto path = scratch.path() / fmt::format("run-{}.json", run.value());
    RETURN_IF_ERROR(WriteFileAtomically(path, RunJson(history, best)));
    draw.argv.push_back(path.string());
  }
  ASSIGN_OR_RETURN(auto child, Subprocess::Start(draw));
  const auto exit = child.Wait(kDrawLimit);
  if (!exit) return Fail(ErrorCode::kTimeout, "drawing the report took over five minutes");
  for (const auto said : {ErrorCode::kInvalidInput, ErrorCode::kMissing, ErrorCode::kExhausted})
    if (exit->status == ExitStatus(said)) return exit->status;  // the script has said why
  if (exit->status != 0)
    return Fail(ErrorCode::kInternal,
                fmt::format("drawing the report ended with status {}, signal {}: see the message "
                            "above",
                            exit->status, exit->signal));
  RETURN_IF_ERROR(
      WriteStdout(fmt::format("report: {}\n", std::filesystem::absolute(options.output).string())));
  return 0;
}

}  // namespace warpsmith
