// Elementwise expressions of a reference as CUDA text in float. Pure.
//
// Known: + - * / neg pow, and torch's abs ceil clamp cos erf exp expm1 floor gelu leaky_relu log
// log1p maximum minimum reciprocal relu rsqrt sigmoid silu sin softplus sqrt square tanh.
// Definitions are torch's, NaN included.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/base/result.h"
#include "policy/core/reference.h"

namespace warpsmith {

// Exact: the functions of CUDA's math library. Fast: hardware approximations, which are quicker and
// lose digits; whether a task's tolerance bears them is for the policy to learn.
enum class MathMode { kExact, kFast };

// Whether the tree is made of known functions, numbers, and names that `is_leaf` knows.
// kInvalidInput says what is not.
Status CheckElementwise(const Expr& expr, const std::function<bool(const std::string&)>& is_leaf);

// Whether fast math would change the text.
bool HasFastMath(const Expr& expr);

struct ElementwiseText {
  std::string expression;  // "gelu(a * x + b) + r"
  // Device functions that it calls, by name: definitions that come before the kernel.
  std::map<std::string, std::string> helpers;
};

// `leaves` gives each name's text. The tree passed CheckElementwise.
ElementwiseText WriteElementwise(const Expr& expr, const std::map<std::string, std::string>& leaves,
                                 MathMode math);

}  // namespace warpsmith
