// What arrives at the coordinator.
#include "common/wire/codec_impl.h"
#include "common/wire/coordinator_records.h"
#include "schema/coordinator.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(ToCoordinator, 1)

}  // namespace warpsmith
