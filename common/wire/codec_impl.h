// Encode and Decode for one kind of message. Included by the codec's .cc files, which instantiate
// them:
//   WIRE_MESSAGE(ToOracle, 7)
// gives the message's number in our header and its struct in the schema.
#pragma once

#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include "common/wire/codec.h"
#include "common/wire/fields.h"
#include "common/wire/model_codec.h"

namespace warpsmith::wire_io {

constexpr uint32_t kMagic = 0x314d5357;  // "WSM1"
constexpr uint16_t kFormatVersion =
    1;  // raised whenever a schema changes in a way a peer could misread

// Before the Cap'n Proto bytes, and as long as one of their words, so that these stay aligned.
struct Header {
  uint32_t magic = kMagic;
  uint16_t version = kFormatVersion;
  uint16_t kind = 0;
};
static_assert(sizeof(Header) == sizeof(capnp::word));

template <typename Message>
struct Wire;

template <typename Message>
std::string EncodeMessage(const Message& message) {
  capnp::MallocMessageBuilder builder;
  Value<Message>::WriteTo(builder.initRoot<typename Wire<Message>::Struct>(), message);

  const Header header{.kind = Wire<Message>::kKind};
  std::string bytes(
      sizeof header + capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  kj::ArrayOutputStream out(kj::arrayPtr(reinterpret_cast<kj::byte*>(bytes.data()) + sizeof header,
                                         bytes.size() - sizeof header));
  capnp::writeMessage(out, builder);
  return bytes;
}

template <typename Message>
Message DecodeWords(kj::ArrayPtr<const capnp::word> words) {
  // Our own writer reads each word once: a message that refers to a part of itself twice runs out.
  capnp::ReaderOptions options;
  options.traversalLimitInWords = words.size() + 16;
  capnp::FlatArrayMessageReader reader(words, options);
  if (reader.getEnd() != words.end()) throw Corrupt("bytes after the end");
  return Value<Message>::Read(reader.getRoot<typename Wire<Message>::Struct>());
}

template <typename Message>
Result<Message> DecodeMessage(std::string_view bytes) {
  const auto corrupt = [](const std::string& why) {
    return Fail(ErrorCode::kCorrupt, std::string("not a ") + Wire<Message>::kName + ": " + why);
  };
  Header header;
  if (bytes.size() < sizeof header || bytes.size() % sizeof(capnp::word) != 0)
    return corrupt("a length of " + std::to_string(bytes.size()) + " bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return corrupt("no message of ours");
  if (header.version != kFormatVersion)
    return corrupt("format version " + std::to_string(header.version) + ", this is version " +
                   std::to_string(kFormatVersion) + "; use one version of Warpsmith everywhere");
  if (header.kind != Wire<Message>::kKind) return corrupt("kind " + std::to_string(header.kind));

  bytes.remove_prefix(sizeof header);
  const size_t count = bytes.size() / sizeof(capnp::word);
  try {
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(capnp::word) == 0)
      return DecodeWords<Message>(
          kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()), count));
    auto aligned = kj::heapArray<capnp::word>(count);
    std::memcpy(aligned.begin(), bytes.data(), bytes.size());
    return DecodeWords<Message>(aligned);
  } catch (const Corrupt& error) {
    return corrupt(error.what());
  } catch (const kj::Exception& error) {
    return corrupt(error.getDescription().cStr());
  } catch (const std::exception& error) {  // bad_alloc, length_error
    return corrupt(error.what());
  }
}

}  // namespace warpsmith::wire_io

#define WIRE_MESSAGE(Message, number)              \
  namespace wire_io {                              \
  template <>                                      \
  struct Wire<Message> {                           \
    using Struct = ::warpsmith::wire::Message;     \
    static constexpr uint16_t kKind = number;      \
    static constexpr const char* kName = #Message; \
  };                                               \
  }                                                \
  template <>                                      \
  std::string Encode(const Message& message) {     \
    return wire_io::EncodeMessage(message);        \
  }                                                \
  template <>                                      \
  Result<Message> Decode(std::string_view bytes) { \
    return wire_io::DecodeMessage<Message>(bytes); \
  }
