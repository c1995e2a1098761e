// Weights between a learner and workers, and what a store keeps of its checkpoints.
#include "common/wire/codec_impl.h"
#include "common/wire/learner_records.h"
#include "schema/learner.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(WeightsRequest, 3)
WIRE_MESSAGE(WeightsReply, 4)
WIRE_MESSAGE(CheckpointDurable, 20)

}  // namespace warpsmith
