// The worker's loop: feeds its core what happens and does what the core asks. One thread, which
// owns the transport; everybody else tells it through an inbox.
#pragma once

#include <functional>
#include <string>

#include "common/net/transport.h"
#include "common/runtime/bounded_queue.h"
#include "worker/core/worker_core.h"
#include "worker/device/evaluator.h"

namespace warpsmith {

// Where other threads leave events for the loop. Thread-safe; never blocks.
class WorkerInbox {
 public:
  explicit WorkerInbox(Transport& transport) : transport_(transport), events_(1 << 20) {}
  void Tell(WorkerEvent event);
  std::optional<WorkerEvent> Next() { return events_.TryPop(); }

 private:
  Transport& transport_;
  BoundedQueue<WorkerEvent> events_;
};

// The parts that the loop drives; they outlive it.
struct WorkerParts {
  Transport& transport;
  WorkerInbox& inbox;
  Evaluator& evaluator;
  std::function<void(ToPolicy)> ask_policy;
  std::function<void(WeightsAnnouncement)> pull_weights;
  std::function<bool()> stop_requested;  // looked at after each wake
  Duration drain_grace{};
};

// Runs until the core ends; gives its reason.
Exit RunWorker(WorkerCoreOptions options, const WorkerParts& parts);

}  // namespace warpsmith
