// An oracle with its runner.
#include "common/wire/child_records.h"
#include "common/wire/codec_impl.h"
#include "schema/child.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(ToRunner, 9)
WIRE_MESSAGE(FromRunner, 10)

}  // namespace warpsmith
