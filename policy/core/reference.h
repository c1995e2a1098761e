// A task's reference text as an expression tree, so that families recognise what an operation is
// and not what somebody called it. The subset: one `def reference(...)`, plain assignments, one
// `return`. What the parser normalises: operators, `torch.f(x)`, `torch.special.f(x)` and `x.f()`
// are all the call `f`; names assigned to are replaced by their expressions. Pure.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct Expr;
// Trees share nodes: an assigned name that is used twice is one node.
using ExprPtr = std::shared_ptr<const Expr>;

enum class ExprKind {
  kNumber,    // `number`, e.g. 0.5, -1
  kName,      // a parameter: `name`
  kConstant,  // True, False, None: `name`
  kString,    // `name` without quotes
  kList,      // [a, b] or (a, b): `args`
  kCall,  // `name` of (args, keywords): add sub mul div pow neg, and functions by their last name
};

struct Expr {
  ExprKind kind = ExprKind::kNumber;
  double number = 0;
  std::string name;
  std::vector<ExprPtr> args;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  size_t nodes = 1;  // of the tree written out
};

struct ReferenceTree {
  std::vector<std::string> parameters;
  std::vector<ExprPtr> results;  // one an output
};

// Bounds that keep a hostile text cheap.
constexpr size_t kMaxReferenceBytes = 16 * 1024;
constexpr int kMaxReferenceDepth = 64;
constexpr size_t kMaxReferenceNodes = 1000;  // of one expression, written out

// kInvalidInput: the text is outside of the subset; the message names line and column.
Result<ReferenceTree> ParseReference(std::string_view text);

// The tree as one line, for messages and tests: "add(gelu(x), r)".
std::string ToString(const Expr& expr);

// Equal trees.
bool SameExpr(const Expr& a, const Expr& b);

// Whether the parameter `name` stands anywhere in it, keywords included.
bool Mentions(const Expr& expr, std::string_view name);

// Whether it is a call of `name` with `arity` positional arguments (any number where negative).
bool IsCall(const Expr& expr, std::string_view name, int arity = -1);

// The argument at `position`, or the keyword `name`; null where neither is given.
ExprPtr Argument(const Expr& call, size_t position, std::string_view name);

}  // namespace warpsmith
