// A supervisor with its compilers, oracles and policies.
#include "common/wire/child_records.h"
#include "common/wire/codec_impl.h"
#include "schema/child.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(CompileRequest, 5)
WIRE_MESSAGE(CompileReply, 6)
WIRE_MESSAGE(ToOracle, 7)
WIRE_MESSAGE(FromOracle, 8)
WIRE_MESSAGE(ToPolicy, 11)
WIRE_MESSAGE(FromPolicy, 12)

}  // namespace warpsmith
