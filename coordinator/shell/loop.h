// The coordinator's thread: messages from the socket and events from the store and the publisher go
// to the core, its effects are carried out. Bytes that are no message are counted and dropped; a
// peer of another release is told so.
#pragma once

#include <functional>

#include "common/base/clock.h"
#include "common/net/transport.h"
#include "coordinator/core/coordinator.h"
#include "coordinator/shell/inbox.h"
#include "coordinator/shell/job_store.h"
#include "coordinator/shell/stream_publisher.h"

namespace warpsmith {

struct CoordinatorParts {
  Transport& transport;
  JobStore& store;
  StreamPublisher& publisher;
  CoordinatorInbox& inbox;
  const Clock& clock;
};

// Thread-compatible.
class CoordinatorLoop {
 public:
  CoordinatorLoop(CoordinatorSettings settings, Snapshot snapshot, CoordinatorParts parts);

  // Until `stop`, which is looked at after every wake-up and at least once a second.
  void Run(const std::function<bool()>& stop);

  uint64_t corrupt_messages() const { return corrupt_; }

 private:
  void TakeInbox();
  // Whether a message was there.
  bool TakeMessage(Duration wait);
  void Step(Event event);

  void Do(StoreRecords& effect) { parts_.store.Write(std::move(effect)); }
  void Do(SendWorker& effect);
  void Do(SendLearner& effect);
  void Do(AnswerClient& effect);
  void Do(QueryStore& effect) { parts_.store.Query(std::move(effect)); }
  void Do(OpenStream& effect) { parts_.publisher.Do(std::move(effect)); }
  void Do(ExtendStream& effect) { parts_.publisher.Do(effect); }
  void Do(TrimStream& effect) { parts_.publisher.Do(effect); }
  void Do(CloseStream& effect) { parts_.publisher.Do(effect); }
  void Do(LogLine& effect);
  Status Send(const std::string& peer, const FromCoordinator& message);

  CoordinatorParts parts_;
  Coordinator core_;
  uint64_t corrupt_ = 0;
  TimePoint corrupt_logged_{};
};

}  // namespace warpsmith
