// warpsmith best: the best kernels of a run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/runtime/files.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/json.h"
#include "tools/warpsmith/show.h"

namespace warpsmith {
namespace {

// "starter/softmax_rows" -> "starter-softmax_rows", and another name where that is `taken`: a/b-c
// and a-b/c are two tasks. Ids from a coordinator are not trusted as paths.
std::string FileName(const TaskId& task, std::set<std::string>* taken) {
  std::string name = task.value();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') c = '-';
  while (!taken->insert(name).second) name += "-";
  return name;
}

}  // namespace

Result<int> RunBest(const BestOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  ASSIGN_OR_RETURN(const RunId run, ChosenRun(client, options.run));
  ASSIGN_OR_RETURN(const auto best, client.Ask<BestTable>(GetBest{run}, std::chrono::seconds(30)));
  RETURN_IF_ERROR(WriteStdout(
      best.rows.empty()
          ? fmt::format(
                "run {0}: nothing was judged yet; `warpsmith status {0}` tells what it waits for\n",
                run.value())
          : fmt::format("run {}: the best correct kernel of each task, as the run timed it\n{}",
                        run.value(), ShowBest(best))));
  if (options.export_directory.empty()) return 0;
  const std::filesystem::path directory(options.export_directory);
  size_t written = 0;
  std::set<std::string> names;
  for (const auto& row : best.rows) {
    if (row.candidate.empty()) continue;
    const auto stem = directory / FileName(row.task, &names);
    RETURN_IF_ERROR(WriteFileAtomically(stem.string() + ".cu", row.candidate));
    RETURN_IF_ERROR(
        WriteFileAtomically(stem.string() + ".json", EvaluationJson(row.evaluation) + "\n"));
    ++written;
  }
  RETURN_IF_ERROR(WriteStdout(
      fmt::format("{} kernels with their records are in {}\n", written, directory.string())));
  return 0;
}

}  // namespace warpsmith
