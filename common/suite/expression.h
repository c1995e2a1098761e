// Whole-number expressions of plans and suites: `ceil_div(rows, rows_per_block) * 2`.
//
//   sum     := product (('+' | '-') product)*
//   product := unary (('*' | '/' | '%') unary)*
//   unary   := '-' unary | primary
//   primary := number | name | function '(' sum (',' sum)* ')' | '(' sum ')'
//   functions: ceil_div(a, b), min(a, b, ...), max(a, b, ...)
//
// Values are 64-bit; `/` and `%` truncate towards zero as in C. Overflow, division by zero and a
// name that is not in scope are errors, never a wrapped value. Texts over kMaxExpressionBytes and
// nesting over kMaxExpressionDepth are refused before any work is done. All functions are pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

constexpr size_t kMaxExpressionBytes = 1024;
constexpr int kMaxExpressionDepth = 32;

using Names = std::map<std::string, int64_t>;

// kInvalidInput with the place and the reason.
Result<int64_t> EvaluateExpression(std::string_view text, const Names& names);

// Whether the text is an expression at all, whatever its names stand for.
Status CheckExpression(std::string_view text);

// The names that it uses, each once, in order of first use; functions are not among them.
Result<std::vector<std::string>> NamesUsed(std::string_view text);

// A letter or '_', then letters, digits, '_'; at most 64 bytes.
bool IsIdentifier(std::string_view text);

// Names that no dim, scalar, buffer or `let` may take: functions and device facts.
bool IsReservedName(std::string_view name);

// Splits "ceil_div(a, b), 1" at the commas that stand outside (), [], {} and <>; trims each part.
// An empty part or an unbalanced bracket is an error.
Result<std::vector<std::string>> SplitList(std::string_view text);

}  // namespace warpsmith
