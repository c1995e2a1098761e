#include "coordinator/shell/process.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "common/net/zmq_transport.h"
#include "common/queue/redis_queue.h"
#include "common/runtime/files.h"
#include "common/runtime/log.h"
#include "coordinator/shell/loop.h"
#include "coordinator/shell/sqlite_store.h"

namespace warpsmith {

Status RunCoordinator(const CoordinatorConfig& config, StopSignals& signals) {
  const std::filesystem::path directory = config.directory;
  // Both outlive the threads that use them: the store's, the publisher's and the signals'.
  std::shared_ptr<RouterTransport> transport;
  CoordinatorInbox inbox([&transport] { transport->Wake(); });

  ASSIGN_OR_RETURN(auto store, SqliteStore::Open(directory, {}));
  // An address of a life before must not be mistaken for ours.
  std::error_code ignored;
  std::filesystem::remove(directory / "address", ignored);

  // The new epoch is durable before anybody can reach us.
  ASSIGN_OR_RETURN(Snapshot snapshot, store->BeginEpoch());
  ASSIGN_OR_RETURN(auto queue,
                   RedisQueue::Make({.address = config.redis, .password = config.redis_password}));
  ASSIGN_OR_RETURN(auto reader, store->OpenReader());
  ASSIGN_OR_RETURN(transport, RouterTransport::Bind(config.listen));

  SystemClock clock;
  CoordinatorSettings settings = config.settings;
  settings.started = clock.Now();
  settings.started_wall_ms = WallClockMs();
  const uint64_t epoch = snapshot.epoch;

  StreamPublisher publisher(std::move(queue), std::move(reader), inbox.ListenToPublisher());
  CoordinatorLoop loop(std::move(settings), std::move(snapshot),
                       {*transport, *store, publisher, inbox, clock});
  store->Start(inbox.ListenToStore());
  signals.Watch([transport] { transport->Wake(); });

  RETURN_IF_ERROR(WriteFileAtomically(directory / "address", transport->endpoint()));
  LogInfo("listening",
          {{"address", transport->endpoint()}, {"directory", config.directory}, {"epoch", epoch}});
  loop.Run([&signals] { return signals.requested(); });
  // The store's last batches become durable here; their acknowledgements are asked for again.
  store.reset();
  LogInfo("stopped", {{"epoch", epoch}});
  return {};
}

}  // namespace warpsmith
