// An oracle with its runner.
#include "schema/child.capnp.h"

#include "common/wire/codec_impl.h"
#include "common/wire/child_records.h"

namespace warpsmith {

WIRE_MESSAGE(ToRunner, 9)
WIRE_MESSAGE(FromRunner, 10)

}  // namespace warpsmith
