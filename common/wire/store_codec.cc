// What stores and queues keep.
#include "common/wire/codec_impl.h"
#include "common/wire/model_records.h"
#include "schema/model.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(Trajectory, 16)
WIRE_MESSAGE(RunSpec, 17)
WIRE_MESSAGE(JobBody, 18)
WIRE_MESSAGE(Evaluation, 19)

}  // namespace warpsmith
