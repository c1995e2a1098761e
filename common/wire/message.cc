#include "common/wire/message.h"

namespace warpsmith {
namespace {

constexpr uint32_t kMagic = 0x314d5357;  // "WSM1"
// Of the framing: this header, then one Cap'n Proto message of the kind's schema. Schemas evolve
// within it (schema/README.md), so it stays until these bytes themselves are laid out anew.
constexpr uint16_t kFormatVersion = 1;

// As long as a word of Cap'n Proto, so that what follows stays aligned.
struct Header {
  uint32_t magic = kMagic;
  uint16_t version = kFormatVersion;
  uint16_t kind = 0;
};
static_assert(sizeof(Header) == sizeof(capnp::word));

}  // namespace

std::string EncodeFrame(uint16_t kind, capnp::MessageBuilder& builder) {
  const Header header{.kind = kind};
  std::string bytes(
      sizeof header + capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  kj::ArrayOutputStream out(kj::arrayPtr(reinterpret_cast<kj::byte*>(bytes.data()) + sizeof header,
                                         bytes.size() - sizeof header));
  capnp::writeMessage(out, builder);
  return bytes;
}

Status DecodeFrame(uint16_t kind, const char* name, std::string_view bytes,
                   const std::function<void(kj::ArrayPtr<const capnp::word>)>& read) {
  const auto corrupt = [&](const std::string& why) {
    return Fail(ErrorCode::kCorrupt, std::string("not a ") + name + ": " + why);
  };
  Header header;
  if (bytes.size() < sizeof header || bytes.size() % sizeof(capnp::word) != 0)
    return corrupt("a length of " + std::to_string(bytes.size()) + " bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return corrupt("no message of ours");
  if (header.version != kFormatVersion)
    return corrupt("format version " + std::to_string(header.version) +
                   ", this release reads version " + std::to_string(kFormatVersion) +
                   "; use releases that are one apart at most");
  if (header.kind != kind) return corrupt("kind " + std::to_string(header.kind));

  bytes.remove_prefix(sizeof header);
  const size_t count = bytes.size() / sizeof(capnp::word);
  try {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(capnp::word) == 0) {
      read(kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()), count));
    } else {
      auto aligned = kj::heapArray<capnp::word>(count);
      std::memcpy(aligned.begin(), bytes.data(), bytes.size());
      read(aligned);
    }
    return {};
  } catch (const kj::Exception& error) {
    return corrupt(error.getDescription().cStr());
  } catch (const std::exception& error) {  // CorruptMessage, bad_alloc
    return corrupt(error.what());
  }
}

bool IsOfAnotherFormat(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.magic == kMagic && header.version != kFormatVersion;
}

}  // namespace warpsmith
