// How what meets at the coordinator's address travels: each record's fields beside their names in
// schema/coordinator.capnp.
#pragma once

#include "common/model/coordinator_protocol.h"
#include "common/wire/client_records.h"

namespace warpsmith::wire_io {

WIRE_RECORD(ClientCall, r) {
  FIELD(r.id, Id);
  FIELD(r.request, Request);
}

WIRE_RECORD(ClientAnswer, r) {
  FIELD(r.id, Id);
  FIELD(r.reply, Reply);
}

WIRE_UNION(ToCoordinator, r) {
  ALTERNATIVE(WorkerMessage);
  ALTERNATIVE(LearnerMessage);
  ALTERNATIVE(ClientCall);
}

WIRE_UNION(FromCoordinator, r) {
  ALTERNATIVE(CoordinatorToWorker);
  ALTERNATIVE(CoordinatorToLearner);
  ALTERNATIVE(ClientAnswer);
}

}  // namespace warpsmith::wire_io
