// Records to bytes and back: Cap'n Proto messages in the schemas of schema/. Bytes from a peer are
// hostile: our own header (magic, format version, kind) is checked first, then sizes, then every
// field; each message gets a fresh traversal limit. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/child_protocol.h"
#include "common/model/coordinator_protocol.h"

namespace warpsmith {

// Message is one of: ToCoordinator, FromCoordinator, WeightsRequest, WeightsReply, CompileRequest,
// CompileReply, ToOracle, FromOracle, ToRunner, FromRunner, ToPolicy, FromPolicy; and, for stores
// and queues: Trajectory, RunSpec, JobBody, Evaluation, CheckpointDurable.
template <typename Message>
std::string Encode(const Message& message);

// kCorrupt when the bytes are not such a message of this format version.
template <typename Message>
Result<Message> Decode(std::string_view bytes);

// Whether the bytes begin as a message of another format version: of a peer of another release.
bool IsOfAnotherFormat(std::string_view bytes);

}  // namespace warpsmith
