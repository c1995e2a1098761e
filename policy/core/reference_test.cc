#include "policy/core/reference.h"

#include <gmock/gmock.h>

namespace warpsmith {
namespace {

using ::testing::HasSubstr;

std::string Tree(const std::string& text) {
  const auto reference = ParseReference(text);
  if (!reference) return "error: " + reference.error().message;
  std::string all;
  for (const ExprPtr& result : reference->results)
    all += (all.empty() ? "" : "; ") + ToString(*result);
  return all;
}

TEST(Reference, NamesLineAndColumnOfWhatItDoesNotKnow) {
  EXPECT_EQ(Tree("def reference(x: Tensor) -> Tensor:\n    return torch.exp(q)"),
            "error: reference:2:22: `q` is no parameter and assigned nowhere");
  EXPECT_THAT(Tree("def reference(x):\n    for i in x:\n        x = x\n    return x"),
              HasSubstr("reference:2:9: expected `=`"));
  EXPECT_THAT(Tree("def reference(x):\n    y = x"),
              HasSubstr("expected an assignment or `return`"));
  EXPECT_THAT(Tree("def other(x):\n    return x"), HasSubstr("must be `reference`"));
  EXPECT_THAT(Tree("def reference(x):\n    return x\n    return x"),
              HasSubstr("nothing may follow"));
  EXPECT_THAT(Tree("def reference(x):\n    return (x"), HasSubstr("expected `)`"));
  EXPECT_THAT(Tree("def reference(x):\n    return 'x"), HasSubstr("closing quote"));
  EXPECT_THAT(Tree(""), HasSubstr("expected `def`"));
}

TEST(Reference, IsCheapForTextThatMeansToBeExpensive) {
  EXPECT_THAT(Tree("def reference(x):\n    return " + std::string(10000, '(')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(Tree("def reference(x):\n    return " + std::string(10000, '-') + "x"),
              HasSubstr("nested too deeply"));
  std::string doubling = "def reference(x):\n";
  for (int i = 0; i < 60; ++i) doubling += "    x = x + x\n";
  EXPECT_THAT(Tree(doubling + "    return x"), HasSubstr("too large"));
  EXPECT_THAT(Tree(std::string(20000, ' ')), HasSubstr("too long"));
}

TEST(Reference, ReadsTheShippedOperations) {
  EXPECT_EQ(Tree("def reference(x: Tensor, r: Tensor, a: float, b: float) -> Tensor:\n"
                 "    return torch.gelu(a * x + b) + r\n"),
            "add(gelu(add(mul(a, x), b)), r)");
  EXPECT_EQ(Tree("def reference(x: Tensor, eps: float) -> Tensor:\n"
                 "    return x / (torch.sqrt(torch.sum(x * x, -1, True)) + eps)"),
            "div(x, add(sqrt(sum(mul(x, x), -1, True)), eps))");
  EXPECT_EQ(Tree("def reference(x: Tensor, w: Tensor, cols: int, eps: float):\n"
                 "    return torch.rms_norm(x, [cols], w, eps)"),
            "rms_norm(x, [cols], w, eps)");
  EXPECT_EQ(Tree("def reference(x: Tensor) -> Tensor:\n"
                 "    return torch.transpose(x, 0, 1).contiguous()"),
            "contiguous(transpose(x, 0, 1))");
}

TEST(Reference, WritesOneOperationInOneWay) {
  EXPECT_EQ(
      Tree("def reference(x):\n    y: Tensor = x.exp()  # twice\n    return y * y, -2**2 - -1"),
      "mul(exp(x), exp(x)); sub(neg(pow(2, 2)), -1)");
  EXPECT_EQ(Tree("def reference(a: List[int],\n              x: Tensor):\n"
                 "    return (torch.softmax(x, dim=-1), a.T)"),
            "softmax(x, dim=-1); T(a)");
  EXPECT_EQ(Tree("def reference(x):\n    return torch.special.erf(x / 1e-3).to(torch.float32)"),
            "to(erf(div(x, 0.001)), float32())");
}

}  // namespace
}  // namespace warpsmith
