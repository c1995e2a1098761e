// A whole message: our header, then Cap'n Proto. For the generated sources, which give each
// message's number and its struct in the schema.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <cstring>
#include <functional>
#include <string>

#include "common/wire/budget.h"
#include "common/wire/codec.h"

namespace warpsmith {

// Header, words and the end are as they must be: hands the words to `read`, which may throw.
Status DecodeFrame(uint16_t kind, const char* name, std::string_view bytes,
                   const std::function<void(kj::ArrayPtr<const capnp::word>)>& read);
std::string EncodeFrame(uint16_t kind, capnp::MessageBuilder& builder);

template <typename Wire, typename Message>
std::string EncodeMessage(uint16_t kind, const Message& message) {
  capnp::MallocMessageBuilder builder;
  Write(builder.initRoot<Wire>(), message);
  return EncodeFrame(kind, builder);
}

template <typename Wire, typename Message>
Result<Message> DecodeMessage(uint16_t kind, const char* name, std::string_view bytes) {
  Message message{};
  RETURN_IF_ERROR(DecodeFrame(kind, name, bytes, [&](kj::ArrayPtr<const capnp::word> words) {
    // Our own writer refers to each word once, which counts twice where the reference crosses a
    // segment: a message that refers to its parts again and again runs out.
    capnp::ReaderOptions options;
    options.traversalLimitInWords = 2 * words.size() + 16;
    capnp::FlatArrayMessageReader reader(words, options);
    if (reader.getEnd() != words.end()) throw CorruptMessage("bytes after the end");
    Budget budget(words.size() * sizeof(capnp::word));
    Read(reader.getRoot<Wire>(), message, budget);
  }));
  return message;
}

}  // namespace warpsmith
