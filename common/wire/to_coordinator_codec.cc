// What arrives at the coordinator.
#include "common/wire/codec_impl.h"
#include "common/wire/coordinator_records.h"
#include "schema/coordinator.capnp.h"

namespace warpsmith {

WIRE_MESSAGE(ToCoordinator, 1)

bool IsOfAnotherFormat(std::string_view bytes) {
  wire_io::Header header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.magic == wire_io::kMagic && header.version != wire_io::kFormatVersion;
}

}  // namespace warpsmith
