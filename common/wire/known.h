// Decode for a peer that is of this very release, as a child and its parent are.
#pragma once

#include <string_view>

#include "common/model/known.h"
#include "common/wire/codec.h"

namespace warpsmith {

// What is not known to this release is kCorrupt.
template <typename Message>
Result<Message> DecodeKnown(std::string_view bytes) {
  ASSIGN_OR_RETURN(Message message, Decode<Message>(bytes));
  if (const Status known = CheckKnown(message); !known)
    return Fail(ErrorCode::kCorrupt, known.error().message);
  return message;
}

}  // namespace warpsmith
