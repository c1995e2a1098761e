#include "policy/grammar/elementwise_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "common/base/check.h"
#include "policy/grammar/cuda_text.h"

namespace warpsmith {
namespace {

// A function as one call: of CUDA's library where `helper` is empty, else of the device function
// that `helper` defines. An empty fast form: the same as the exact one.
struct Rule {
  std::string_view name;
  size_t arity;
  std::string_view call;
  std::string_view helper;
  std::string_view fast_call = {};
  std::string_view fast_helper = {};
};

constexpr std::array kRules = {
    Rule{"abs", 1, "fabsf", ""},
    Rule{"ceil", 1, "ceilf", ""},
    Rule{"cos", 1, "cosf", ""},
    Rule{"erf", 1, "erff", ""},
    Rule{"exp", 1, "expf", "", "fast_exp", ""},
    Rule{"expm1", 1, "expm1f", ""},
    Rule{"floor", 1, "floorf", ""},
    Rule{"log", 1, "logf", "", "__logf", ""},
    Rule{"log1p", 1, "log1pf", ""},
    Rule{"rsqrt", 1, "rsqrtf", ""},
    Rule{"sin", 1, "sinf", ""},
    Rule{"sqrt", 1, "sqrtf", ""},
    Rule{"tanh", 1, "tanhf", "", "fast_tanh", ""},
    Rule{"clamp", 3, "clamp",
         "// NaN stays NaN, as in torch.\n"
         "__device__ __forceinline__ float clamp(float v, float low, float high) {\n"
         "  return v < low ? low : v > high ? high : v;\n"
         "}\n"},
    Rule{"gelu", 1, "gelu",
         "// torch.gelu: v * P(N(0, 1) < v), through the error function.\n"
         "__device__ __forceinline__ float gelu(float v) {\n"
         "  return 0.5f * v * (1.0f + erff(v * 0.70710678f));\n"
         "}\n",
         "gelu",
         "// torch.gelu by its tanh form: off by 5e-4 at most, and one hardware tanh instead of an "
         "erf.\n"
         "__device__ __forceinline__ float gelu(float v) {\n"
         "  return 0.5f * v * (1.0f + fast_tanh(0.79788456f * (v + 0.044715f * v * v * v)));\n"
         "}\n"},
    Rule{"gelu_tanh", 1, "gelu_tanh",
         "// torch.gelu(approximate='tanh').\n"
         "__device__ __forceinline__ float gelu_tanh(float v) {\n"
         "  return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));\n"
         "}\n",
         "gelu_tanh",
         "// torch.gelu(approximate='tanh'), with the hardware's tanh.\n"
         "__device__ __forceinline__ float gelu_tanh(float v) {\n"
         "  return 0.5f * v * (1.0f + fast_tanh(0.79788456f * (v + 0.044715f * v * v * v)));\n"
         "}\n"},
    Rule{"leaky_relu", 2, "leaky_relu",
         "__device__ __forceinline__ float leaky_relu(float v, float slope) {\n"
         "  return v < 0.0f ? slope * v : v;\n"
         "}\n"},
    Rule{"maximum", 2, "maximum",
         "// NaN wins, as in torch.\n"
         "__device__ __forceinline__ float maximum(float a, float b) {\n"
         "  return a > b || a != a ? a : b;\n"
         "}\n"},
    Rule{"minimum", 2, "minimum",
         "// NaN wins, as in torch.\n"
         "__device__ __forceinline__ float minimum(float a, float b) {\n"
         "  return a < b || a != a ? a : b;\n"
         "}\n"},
    Rule{"relu", 1, "relu",
         "// NaN stays NaN, as in torch.\n"
         "__device__ __forceinline__ float relu(float v) { return v < 0.0f ? 0.0f : v; }\n"},
    Rule{"sigmoid", 1, "sigmoid",
         "__device__ __forceinline__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }\n",
         "sigmoid",
         "// With the hardware's exponential and division.\n"
         "__device__ __forceinline__ float sigmoid(float v) {\n"
         "  return __fdividef(1.0f, 1.0f + fast_exp(-v));\n"
         "}\n"},
    Rule{"silu", 1, "silu",
         "__device__ __forceinline__ float silu(float v) { return v / (1.0f + expf(-v)); }\n",
         "silu",
         "// With the hardware's exponential and division.\n"
         "__device__ __forceinline__ float silu(float v) {\n"
         "  return v * __fdividef(1.0f, 1.0f + fast_exp(-v));\n"
         "}\n"},
    Rule{"softplus", 1, "softplus",
         "// torch.softplus: linear above 20.\n"
         "__device__ __forceinline__ float softplus(float v) {\n"
         "  return v > 20.0f ? v : log1pf(expf(v));\n"
         "}\n"},
    Rule{"square", 1, "square",
         "__device__ __forceinline__ float square(float v) { return v * v; }\n"},
};

const Rule* FindRule(std::string_view name) {
  for (const Rule& rule : kRules)
    if (rule.name == name) return &rule;
  return nullptr;
}

bool IsNumber(const ExprPtr& expr, double value) {
  return expr && expr->kind == ExprKind::kNumber && expr->number == value;
}

// The same operation in the words of the table: pow(x, 2) is square(x), a call's defaults are
// filled in. Null: not an elementwise call that is known.
ExprPtr Canonical(const Expr& call) {
  Expr plain{.kind = ExprKind::kCall, .name = call.name, .args = call.args};
  const auto number = [](double value) {
    return std::make_shared<Expr>(Expr{.kind = ExprKind::kNumber, .number = value});
  };
  if (call.name == "gelu") {
    const ExprPtr approximate = Argument(call, 1, "approximate");
    plain.args.resize(std::min<size_t>(plain.args.size(), 1));
    if (approximate) {
      if (approximate->kind != ExprKind::kString) return nullptr;
      if (approximate->name == "tanh")
        plain.name = "gelu_tanh";
      else if (approximate->name != "none")
        return nullptr;
    }
  } else if (call.name == "clamp") {
    const ExprPtr low = Argument(call, 1, "min"), high = Argument(call, 2, "max");
    if (call.args.empty() || !low || !high) return nullptr;
    plain.args = {call.args[0], low, high};
  } else if (call.name == "leaky_relu") {
    const ExprPtr slope = Argument(call, 1, "negative_slope");
    if (call.args.empty()) return nullptr;
    plain.args = {call.args[0], slope ? slope : number(0.01)};
  } else if (call.name == "reciprocal") {
    plain.name = "div";
    plain.args.insert(plain.args.begin(), number(1));
  } else if (call.name == "pow" && call.args.size() == 2 && IsNumber(call.args[1], 2)) {
    plain.name = "square";
    plain.args.pop_back();
  } else if (call.name == "pow" && call.args.size() == 2 && IsNumber(call.args[1], 0.5)) {
    plain.name = "sqrt";
    plain.args.pop_back();
  } else if (!call.keywords.empty()) {
    return nullptr;
  }
  const bool infix = plain.name == "add" || plain.name == "sub" || plain.name == "mul" ||
                     plain.name == "div" || plain.name == "pow";
  const Rule* rule = FindRule(plain.name);
  const size_t arity = infix ? 2 : plain.name == "neg" ? 1 : rule ? rule->arity : 0;
  if (arity == 0 || plain.args.size() != arity) return nullptr;
  return std::make_shared<Expr>(std::move(plain));
}

// How tightly an expression's text binds.
enum Binding { kSum = 1, kProduct = 2, kAtom = 3 };

class Writer {
 public:
  Writer(const std::map<std::string, std::string>& leaves, MathMode math)
      : leaves_(leaves), fast_(math == MathMode::kFast) {}

  // The text, in brackets where it binds less tightly than `least`.
  std::string Write(const Expr& expr, Binding least) {
    const auto [text, binding] = Plain(expr);
    return binding < least ? "(" + text + ")" : text;
  }

  std::map<std::string, std::string> helpers;

 private:
  std::pair<std::string, Binding> Plain(const Expr& expr) {
    if (expr.kind == ExprKind::kNumber)
      return {FloatLiteral(expr.number), expr.number < 0 ? kSum : kAtom};
    if (expr.kind == ExprKind::kName) return {leaves_.at(expr.name), kAtom};
    const ExprPtr canonical = Canonical(expr);
    CHECK(canonical, "CheckElementwise passed");
    const std::string& name = canonical->name;
    const auto& args = canonical->args;
    if (name == "add") return {Write(*args[0], kSum) + " + " + Write(*args[1], kSum), kSum};
    if (name == "sub") return {Write(*args[0], kSum) + " - " + Write(*args[1], kProduct), kSum};
    if (name == "mul")
      return {Write(*args[0], kProduct) + " * " + Write(*args[1], kAtom), kProduct};
    if (name == "neg") return {"-" + Write(*args[0], kAtom), kSum};
    if (name == "div") {
      if (fast_)
        return {"__fdividef(" + Write(*args[0], kSum) + ", " + Write(*args[1], kSum) + ")", kAtom};
      return {Write(*args[0], kProduct) + " / " + Write(*args[1], kAtom), kProduct};
    }
    if (name == "pow")
      return {"powf(" + Write(*args[0], kSum) + ", " + Write(*args[1], kSum) + ")", kAtom};
    const Rule& rule = *FindRule(name);
    const bool fast = fast_ && !rule.fast_call.empty();
    std::string text(fast ? rule.fast_call : rule.call);
    const std::string_view helper = fast ? rule.fast_helper : rule.helper;
    if (!helper.empty()) helpers[text] = helper;
    text += "(";
    for (size_t i = 0; i < args.size(); ++i) text += (i == 0 ? "" : ", ") + Write(*args[i], kSum);
    return {text + ")", kAtom};
  }

  const std::map<std::string, std::string>& leaves_;
  const bool fast_;
};

}  // namespace

Status CheckElementwise(const Expr& expr, const std::function<bool(const std::string&)>& is_leaf) {
  switch (expr.kind) {
    case ExprKind::kNumber:
      if (std::isfinite(static_cast<float>(expr.number))) return {};
      return Fail(ErrorCode::kInvalidInput, "a number beyond float");
    case ExprKind::kName:
      if (is_leaf(expr.name)) return {};
      return Fail(ErrorCode::kInvalidInput, fmt::format("`{}` is of no use here", expr.name));
    case ExprKind::kCall: break;
    default:
      return Fail(ErrorCode::kInvalidInput, fmt::format("`{}` is no number", ToString(expr)));
  }
  const ExprPtr canonical = Canonical(expr);
  if (!canonical)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("`{}` is no elementwise function of the family", ToString(expr)));
  for (const ExprPtr& arg : canonical->args) RETURN_IF_ERROR(CheckElementwise(*arg, is_leaf));
  return {};
}

bool HasFastMath(const Expr& expr) {
  if (expr.kind != ExprKind::kCall) return false;
  const ExprPtr canonical = Canonical(expr);
  if (!canonical) return false;
  if (canonical->name == "div") return true;
  const Rule* rule = FindRule(canonical->name);
  if (rule && !rule->fast_call.empty()) return true;
  for (const ExprPtr& arg : canonical->args)
    if (HasFastMath(*arg)) return true;
  return false;
}

ElementwiseText WriteElementwise(const Expr& expr, const std::map<std::string, std::string>& leaves,
                                 MathMode math) {
  Writer writer(leaves, math);
  ElementwiseText text;
  text.expression = writer.Write(expr, kSum);
  text.helpers = std::move(writer.helpers);
  return text;
}

}  // namespace warpsmith
