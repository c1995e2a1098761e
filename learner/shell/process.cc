#include "learner/shell/process.h"

#include <unistd.h>

#include "common/net/zmq_transport.h"
#include "common/queue/redis_queue.h"
#include "common/runtime/files.h"
#include "common/runtime/log.h"
#include "learner/shell/learner.h"
#include "learner/shell/publisher.h"
#include "learner/shell/training_thread.h"

namespace warpsmith {
namespace {

// How long a turn waits for a message: the queue is looked at this often.
constexpr Duration kTurn = std::chrono::milliseconds(20);

std::string HostName() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// What others can connect to: an endpoint bound on every interface is reached by this host's name.
std::string AddressFor(const std::string& bound) {
  for (const std::string wildcard : {"tcp://0.0.0.0:", "tcp://[::]:", "tcp://*:"})
    if (bound.starts_with(wildcard))
      return "tcp://" + HostName() + ":" + bound.substr(wildcard.size());
  return bound;
}

}  // namespace

Result<ConfigAction> LoadConfig(int argc, const char* const* argv, LearnerConfig* config) {
  ConfigTable table("warpsmith-learner", "trains the policies of runs and publishes their weights");
  table.Add("coordinator", &config->coordinator,
            {.purpose = "address of the coordinator: tcp://host:port or ipc:///path",
             .environment = "WARPSMITH_COORDINATOR",
             .required = true});
  table.Add("directory", &config->directory,
            {.purpose = "folder for checkpoints; this learner's alone, of one coordinator",
             .required = true});
  table.Add("weights_endpoint", &config->weights_endpoint,
            {.purpose = "where workers pull weights: tcp://interface:port (port * takes any), or "
                        "ipc:///path",
             .environment = "WARPSMITH_WEIGHTS_ENDPOINT",
             .required = true});
  table.Add(
      "weights_address", &config->weights_address,
      {.purpose = "what workers are told instead, where the endpoint has another name for them",
       .environment = "WARPSMITH_WEIGHTS_ADDRESS"});
  table.Add("redis_password", &config->redis_password,
            {.purpose = "password of the Redis server that the coordinator names",
             .environment = "WARPSMITH_REDIS_PASSWORD",
             .secret = true});
  table.Add("keep", &config->keep,
            {.purpose = "checkpoints kept of each run", .least = 2, .most = 1000});
  table.Add("repeat_s", &config->repeat,
            {.purpose = "until what was not answered is said again", .least = 0.1, .most = 60});
  return table.Load(argc, argv);
}

Status RunLearnerProcess(const LearnerConfig& config, StopSignals& signals,
                         MakeTrainer make_trainer) {
  RETURN_IF_ERROR(MakeDirectories(config.directory));
  ASSIGN_OR_RETURN(const UniqueFd lock, LockDirectory(config.directory, "learner"));
  ASSIGN_OR_RETURN(auto router, RouterTransport::Bind(config.weights_endpoint));
  const std::string address =
      config.weights_address.empty() ? AddressFor(router->endpoint()) : config.weights_address;
  const std::string id = MakeRoutingId("learner");
  ASSIGN_OR_RETURN(auto transport, DealerTransport::Connect(config.coordinator, id));
  LogInfo("started", {{"coordinator", config.coordinator},
                      {"directory", config.directory},
                      {"weights", address},
                      {"learner", id}});

  WeightsTable weights;
  Publisher publisher(std::move(router), weights);
  const SystemClock clock;
  const auto make_queue =
      [&](const std::string& redis) -> Result<std::unique_ptr<TrajectoryQueue>> {
    return RedisQueue::Make({.address = redis, .password = config.redis_password});
  };
  TrainingThread training;
  Learner learner({.name = id,
                   .directory = config.directory,
                   .weights_endpoint = address,
                   .keep = static_cast<size_t>(config.keep),
                   .repeat = config.repeat},
                  *transport, clock, weights, make_queue, std::move(make_trainer),
                  [&](std::function<void()> work) { training.Run(std::move(work)); });
  while (!signals.requested()) RETURN_IF_ERROR(learner.Turn(kTurn));
  LogInfo("stopping");
  return {};
}

}  // namespace warpsmith
