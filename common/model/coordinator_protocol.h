// Everything that arrives at, or leaves, the coordinator's one address.
#pragma once

#include <cstdint>
#include <variant>

#include "common/model/client_protocol.h"
#include "common/model/learner_protocol.h"
#include "common/model/worker_protocol.h"

namespace warpsmith {

// A client's request with a number of its own, and the answer with the same number.
struct ClientCall {
  uint64_t id = 0;
  ClientRequest request;
  bool operator==(const ClientCall&) const = default;
};
struct ClientAnswer {
  uint64_t id = 0;
  ClientReply reply;
  bool operator==(const ClientAnswer&) const = default;
};

using ToCoordinator = std::variant<WorkerMessage, LearnerMessage, ClientCall>;
using FromCoordinator = std::variant<CoordinatorToWorker, CoordinatorToLearner, ClientAnswer>;

}  // namespace warpsmith
