#include "coordinator/shell/config.h"

#include <algorithm>

namespace warpsmith {

Result<ConfigAction> LoadCoordinatorConfig(int argc, const char* const* argv,
                                           CoordinatorConfig* config) {
  ConfigTable table("warpsmith-coordinator",
                    "schedules kernel tasks to workers and keeps what they find");
  CoordinatorSettings& settings = config->settings;
  int64_t max_failures = settings.max_failures;

  table.Add("listen", &config->listen,
            {.purpose = "address for workers, learners and clients: tcp://host:port or "
                        "ipc:///path; port 0 takes a free one",
             .environment = "WARPSMITH_LISTEN",
             .required = true});
  table.Add(
      "directory", &config->directory,
      {.purpose = "folder of the store; the address in force is written to its file `address`",
       .required = true});
  table.Add("redis", &config->redis,
            {.purpose = "server of the learners' streams: tcp:host:port or unix:/path",
             .environment = "WARPSMITH_REDIS",
             .required = true});
  table.Add("redis_password", &config->redis_password,
            {.purpose = "its password", .environment = "WARPSMITH_REDIS_PASSWORD", .secret = true});
  table.Add("heartbeat_ms", &settings.heartbeat,
            {.purpose = "peers give a sign of life at least so often", .least = 10});
  table.Add(
      "lease_ms", &settings.lease,
      {.purpose = "a job without progress for so long is given to another worker", .least = 50});
  table.Add("torpid_ms", &settings.torpid,
            {.purpose = "a worker silent for so long gets no new work", .least = 20});
  table.Add("dead_ms", &settings.dead,
            {.purpose = "the work of a worker silent for so long moves", .least = 50});
  table.Add("job_deadline_ms", &settings.job_deadline,
            {.purpose = "of one attempt at a job, from its grant", .least = 100});
  table.Add(
      "group_deadline_ms", &settings.group_deadline,
      {.purpose = "of a group, from its first grant: it ends with what it has", .least = 100});
  table.Add("max_failures", &max_failures,
            {.purpose = "attempts in a row without a result after which a job is given up",
             .least = 1,
             .most = 1000});
  table.Add("retry_base_ms", &settings.retry_base,
            {.purpose = "wait after a job's first failed attempt; doubles with each", .least = 1});
  table.Add("retry_cap_ms", &settings.retry_cap, {.purpose = "the longest such wait", .least = 1});
  table.Add(
      "repeat_ms", &settings.repeat,
      {.purpose = "messages that a learner has not answered are repeated so often", .least = 10});
  table.Add("weights_grace_ms", &settings.weights_grace,
            {.purpose = "a worker may lag behind new weights so long before it gets a job to wait "
                        "with",
             .least = 0});

  ASSIGN_OR_RETURN(const ConfigAction action, table.Load(argc, argv));
  // A peer that speaks as often as it is asked to must not seem to be away.
  if (std::min({settings.torpid, settings.dead, settings.lease}) <= settings.heartbeat)
    return Fail(ErrorCode::kInvalidInput,
                "torpid_ms, dead_ms and lease_ms must each be more than heartbeat_ms");
  if (settings.dead < settings.torpid)
    return Fail(ErrorCode::kInvalidInput, "dead_ms must be at least torpid_ms");
  settings.max_failures = static_cast<uint32_t>(max_failures);
  settings.redis = config->redis;
  return action;
}

}  // namespace warpsmith
