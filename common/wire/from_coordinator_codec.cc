// What leaves the coordinator.
#include "common/wire/codec_impl.h"
#include "common/wire/coordinator_records.h"
#include "schema/coordinator.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(FromCoordinator, 2)

}  // namespace warpsmith
