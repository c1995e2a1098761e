// What a compiler child says is evidence: this checks it. Pure functions.
#pragma once

#include <string>

#include "schema/child.h"

namespace warpsmith {

// What must not even be handed to a compiler; empty: admitted.
std::string RefuseText(std::string_view text);

// Why `reply` cannot be the answer to `request`; empty: it holds. A child that was taken over by
// the text it compiled can say anything: sizes, names and kinds are held to what was asked and to
// the contract's limits, and only outcomes that a compiler may give are let through.
std::string CheckReply(const CompileRequest& request, const CompileReply& reply);

// `text` cut to `limit` bytes with a mark.
std::string CutLog(std::string text, size_t limit);

}  // namespace warpsmith
