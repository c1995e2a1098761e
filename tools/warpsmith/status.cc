// warpsmith status: the cluster, or one run.
#include "common/runtime/files.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/json.h"
#include "tools/warpsmith/progress.h"
#include "tools/warpsmith/show.h"

namespace warpsmith {

Result<int> RunStatusCommand(const StatusOptions& options) {
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  if (options.run) {
    ASSIGN_OR_RETURN(const auto run, client.Ask<RunStatus>(GetRun{RunId(*options.run)}));
    RETURN_IF_ERROR(WriteStdout(options.json ? StatusJson(run) + "\n" : Summary(run)));
    return 0;
  }
  ASSIGN_OR_RETURN(const auto cluster, client.Ask<ClusterStatus>(GetCluster{}));
  RETURN_IF_ERROR(WriteStdout(options.json ? StatusJson(cluster) + "\n" : ShowCluster(cluster)));
  return 0;
}

}  // namespace warpsmith
