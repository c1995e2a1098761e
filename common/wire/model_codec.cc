#include "common/wire/model_codec.h"

namespace warpsmith::wire_io {

WIRE_MODEL_RECORDS(WIRE_HERE)

}  // namespace warpsmith::wire_io
