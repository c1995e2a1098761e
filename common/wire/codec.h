// Records to bytes and back: Cap'n Proto messages in the schemas of schema/, which say which
// records are messages ($Record.message). Bytes from a peer are hostile, and those of another
// release are welcome: what they lack is read as the schema's default, what this release does not
// know is left out or, where it is an alternative or a word, carried as it came. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace warpsmith {

// Message: a record whose header says Record.message; include that header ("schema/worker.h").
template <typename Message>
std::string Encode(const Message& message);

// kCorrupt when the bytes are no such message, refer to a part of themselves twice, or would take
// more than eight times their size of memory.
template <typename Message>
Result<Message> Decode(std::string_view bytes);

// Whether the bytes begin as a message of another format: of a peer with which nothing can be said.
bool IsOfAnotherFormat(std::string_view bytes);

}  // namespace warpsmith
