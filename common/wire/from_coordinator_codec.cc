// What leaves the coordinator.
#include "schema/coordinator.capnp.h"

#include "common/wire/codec_impl.h"
#include "common/wire/coordinator_records.h"

namespace warpsmith {

WIRE_MESSAGE(FromCoordinator, 2)

}  // namespace warpsmith
