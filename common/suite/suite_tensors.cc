// Inputs, scalars, outputs and work of a task.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/base/parse.h"
#include "common/suite/expression.h"
#include "common/suite/scalar_bits.h"
#include "common/suite/suite_parts.h"

namespace warpsmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHuge = 1e30;
constexpr size_t kMaxTensors = 32;
constexpr size_t kMaxRank = 8;
constexpr double kMaxWhole = 9007199254740992.0;  // whole numbers of content pass through a double

// Calls `read(name, value)` for each entry of a map of names.
template <typename Read>
void ForEachNamed(const YamlNode& node, const char* what, YamlProblems* problems, Read read) {
  if (!node.is_map()) {
    problems->Add(node,
                  fmt::format("{}: write a map of names, as x: {{dtype: float32, ...}}", what));
    return;
  }
  if (node.entries.size() > kMaxTensors) {
    problems->Add(node, fmt::format("{}: {} entries; at most {} are allowed", what,
                                    node.entries.size(), kMaxTensors));
    return;
  }
  for (const auto& [key, value] : node.entries) {
    if (!IsIdentifier(key.text) || IsReservedName(key.text))
      problems->Add(key, fmt::format("{}: `{}` cannot be a name; write letters, digits and _, and "
                                     "none of the names that plans know",
                                     what, Shown(key.text)));
    else
      read(key, value);
  }
}

Dtype ReadDtype(const Fields& fields) {
  const auto* node = fields.Require("dtype", "dtype: float32");
  if (!node) return Dtype::kFloat32;
  const auto dtype = node->is_scalar() ? ParseWord<Dtype>(node->text) : std::nullopt;
  if (!dtype)
    fields.problems()->Add(*node, fmt::format("{}: dtype `{}` is none; write float64, float32, "
                                              "float16, bfloat16, int64, int32, int16, int8, uint8 "
                                              "or bool",
                                              fields.what(), Shown(node->text)));
  return dtype.value_or(Dtype::kFloat32);
}

std::vector<std::string> ReadShape(const Fields& fields) {
  const auto* node = fields.Require("shape", "shape: [rows, cols]");
  if (!node) return {};
  auto shape = ReadExpressions(*node, fields.what() + ": shape", fields.problems());
  if (shape && shape->size() > kMaxRank)
    fields.problems()->Add(*node, fmt::format("{}: shape of {} dimensions; at most {} are allowed",
                                              fields.what(), shape->size(), kMaxRank));
  return shape.value_or(std::vector<std::string>{});
}

struct InitWord {
  std::string_view word;
  InitKind kind;
  std::vector<std::string_view> numbers;  // the fields that it takes
};

const std::vector<InitWord>& InitWords() {
  static const std::vector<InitWord> words{{"normal", InitKind::kNormal, {"scale"}},
                                           {"uniform", InitKind::kUniform, {"low", "high"}},
                                           {"integer", InitKind::kInteger, {"low", "high"}},
                                           {"index", InitKind::kIndex, {"bound"}},
                                           {"one_hot", InitKind::kOneHot, {}},
                                           {"mask", InitKind::kMask, {"value"}},
                                           {"constant", InitKind::kConstant, {"value"}}};
  return words;
}

// The word of an init; `one-hot` is read as one_hot.
const InitWord* ReadInitWord(const YamlNode& node, const std::string& what,
                             YamlProblems* problems) {
  std::vector<std::string_view> known;
  for (const auto& word : InitWords()) {
    if (node.is_scalar() &&
        (node.text == word.word || (word.kind == InitKind::kOneHot && node.text == "one-hot")))
      return &word;
    known.push_back(word.word);
  }
  problems->Add(
      node, fmt::format("{}: init is `{}`; write {}", what, Shown(node.text), Alternatives(known)));
  return nullptr;
}

void ReadInitNumbers(const Fields& fields, const InitWord& word, Init* init) {
  auto* problems = fields.problems();
  for (const auto& [key, value] : fields.node().entries) {
    if (key.text == "kind") continue;
    bool takes = false;
    for (const auto number : word.numbers) takes = takes || number == key.text;
    if (!takes)
      problems->Add(key,
                    fmt::format("{}: {} takes {}, not {}", fields.what(), word.word,
                                word.numbers.empty() ? "no number" : Alternatives(word.numbers),
                                Shown(key.text)));
  }
  const auto number = [&](const char* name, double low, double high, double* out) {
    if (const auto* node = fields.Find(name))
      *out = ReadBounded(*node, fields.what() + ": " + name, low, high, problems).value_or(*out);
  };
  number("scale", 1e-30, kHuge, &init->scale);
  number("low", -kHuge, kHuge, &init->low);
  number("high", -kHuge, kHuge, &init->high);
  number("value", -kHuge, kHuge, &init->value);
  if (const auto* bound = fields.Find("bound"))
    init->bound = ReadExpression(*bound, fields.what() + ": bound", problems).value_or("");
}

// Whether the numbers of an init can be drawn as this dtype; the first problem.
std::optional<std::string> InitProblem(const Init& init, const InitWord& word, Dtype dtype) {
  const bool floating = IsFloating(dtype);
  std::vector<double> drawn;
  switch (init.kind) {
    case InitKind::kNormal:
    case InitKind::kUniform:
      if (!floating)
        return fmt::format(
            "{} is for floating types; write {{kind: integer, low: 0, high: 9}} for {}", word.word,
            ToString(dtype));
      if (init.kind == InitKind::kUniform && init.low >= init.high)
        return fmt::format("low {} is not below high {}", init.low, init.high);
      if (init.kind == InitKind::kNormal)
        drawn = {init.scale};
      else
        drawn = {init.low, init.high};
      break;
    case InitKind::kInteger:
      if (init.low > init.high || std::trunc(init.low) != init.low ||
          std::trunc(init.high) != init.high)
        return fmt::format("low {} and high {} must be whole numbers in order", init.low,
                           init.high);
      if (init.high - init.low >= static_cast<double>(kMaxDrawn) ||
          std::fabs(init.low) > kMaxWhole || std::fabs(init.high) > kMaxWhole)
        return fmt::format(
            "low {} and high {} are too far apart, or too large; at most 2^32 "
            "numbers within 2^53 are drawn from",
            init.low, init.high);
      drawn = {init.low, init.high};
      break;
    case InitKind::kIndex:
      if (floating || init.bound.empty())
        return "index needs a whole-number dtype and a bound; write {kind: index, bound: cols}";
      break;
    case InitKind::kMask:
      if (init.value < 0 || init.value > 1)
        return fmt::format("value {} is no probability; write a number from 0 to 1", init.value);
      break;
    case InitKind::kConstant: drawn = {init.value}; break;
    case InitKind::kOneHot: break;
  }
  for (const double number : drawn)
    if (const auto bits = RealBits(number, ParameterTypeOf(dtype)); !bits)
      return bits.error().message;
  return std::nullopt;
}

Init ReadInit(const YamlNode* node, const std::string& input, Dtype dtype, YamlProblems* problems) {
  Init init;
  if (!node) return init;
  const std::string what = input + ": init";
  const InitWord* word = nullptr;
  if (node->is_map()) {
    const Fields fields(*node, what, {"kind", "scale", "low", "high", "bound", "value"}, problems);
    const auto* kind = fields.Require("kind", "kind: uniform");
    word = kind ? ReadInitWord(*kind, input, problems) : nullptr;
    if (word && word->kind == InitKind::kMask) init.value = 0.5;
    if (word) ReadInitNumbers(fields, *word, &init);
    if (word && word->kind == InitKind::kConstant && !fields.Find("value"))
      problems->Add(*node, fmt::format("{}: constant lacks its value; write value: 1", what));
  } else {
    word = ReadInitWord(*node, input, problems);
    if (word && word->kind == InitKind::kMask) init.value = 0.5;
    if (word && word->kind == InitKind::kConstant)
      problems->Add(*node, fmt::format("{}: write {{kind: constant, value: 1}}", what));
  }
  if (!word) return init;
  init.kind = word->kind;
  if (const auto problem = InitProblem(init, *word, dtype))
    problems->Add(*node, what + ": " + *problem);
  return init;
}

// "value", "exact", "index_by_value" or "ulp(4)".
void ReadCompare(const YamlNode& node, const std::string& what, OutputSpec* output,
                 YamlProblems* problems) {
  const std::string& text = node.text;
  if (text == "value") return;
  if (text == "exact") {
    output->compare = CompareKind::kExact;
  } else if (text == "index_by_value") {
    output->compare = CompareKind::kIndexByValue;
  } else if (text.starts_with("ulp(") && text.ends_with(')')) {
    const auto ulps = ParseWhole<int>(std::string_view(text).substr(4, text.size() - 5));
    output->compare = CompareKind::kUlp;
    output->ulps = ulps.value_or(0);
    if (output->ulps >= 1 && output->ulps <= 1024) return;
    problems->Add(node,
                  fmt::format("{}: compare is `{}`; write ulp(1) to ulp(1024)", what, Shown(text)));
  } else {
    problems->Add(
        node, fmt::format("{}: compare is `{}`; write value, exact, index_by_value or ulp(4)", what,
                          Shown(text)));
  }
}

OutputSpec ReadOutput(const YamlNode& key, const YamlNode& value, YamlProblems* problems) {
  OutputSpec output{.name = key.text};
  const std::string what = "output " + key.text;
  const Fields fields(
      value, what,
      {"dtype", "shape", "rtol", "atol", "compare", "index_into", "order_free", "equal_nan"},
      problems);
  output.dtype = ReadDtype(fields);
  output.shape = ReadShape(fields);
  if (const auto* compare = fields.Find("compare")) ReadCompare(*compare, what, &output, problems);
  const auto* rtol = fields.Find("rtol");
  if (rtol) output.rtol = ReadBounded(*rtol, what + ": rtol", 0, 1, problems).value_or(0);
  if (const auto* atol = fields.Find("atol"))
    output.atol = ReadBounded(*atol, what + ": atol", 0, kInfinity, problems);
  if (!rtol && IsFloating(output.dtype) && output.compare == CompareKind::kValue && value.is_map())
    problems->Add(value, fmt::format("{} lacks `rtol`; write rtol: 1e-4, or compare: exact", what));
  if (const auto* into = fields.Find("index_into"))
    output.index_into = ReadText(*into, what + ": index_into", problems).value_or("");
  if ((output.compare == CompareKind::kIndexByValue) != !output.index_into.empty())
    problems->Add(value, fmt::format("{}: compare: index_by_value and index_into: <input> belong "
                                     "together; write both, or neither",
                                     what));
  if (const auto* free = fields.Find("order_free"))
    output.order_free = ReadBool(*free, what + ": order_free", problems).value_or(false);
  if (const auto* nan = fields.Find("equal_nan"))
    output.equal_nan = ReadBool(*nan, what + ": equal_nan", problems).value_or(false);
  return output;
}

}  // namespace

std::vector<InputSpec> ReadInputs(const YamlNode& node, YamlProblems* problems) {
  std::vector<InputSpec> inputs;
  ForEachNamed(node, "inputs", problems, [&](const YamlNode& key, const YamlNode& value) {
    InputSpec input{.name = key.text};
    const std::string what = "input " + key.text;
    const Fields fields(value, what, {"dtype", "shape", "init"}, problems);
    input.dtype = ReadDtype(fields);
    input.shape = ReadShape(fields);
    const auto* init = fields.Find("init");
    if (!init && !IsFloating(input.dtype) && value.is_map())
      problems->Add(value,
                    fmt::format("{} lacks `init`; write init: {{kind: integer, low: 0, high: "
                                "9}}",
                                what));
    input.init = ReadInit(init, what, input.dtype, problems);
    inputs.push_back(std::move(input));
  });
  return inputs;
}

std::vector<ScalarSpec> ReadScalars(const YamlNode& node, YamlProblems* problems) {
  std::vector<ScalarSpec> scalars;
  ForEachNamed(node, "scalars", problems, [&](const YamlNode& key, const YamlNode& value) {
    ScalarSpec scalar{.name = key.text};
    const std::string what = "scalar " + key.text;
    const Fields fields(value, what, {"dtype", "value", "expression"}, problems);
    scalar.dtype = ReadDtype(fields);
    const auto* number = fields.Find("value");
    const auto* expression = fields.Find("expression");
    if (value.is_map() && (number != nullptr) == (expression != nullptr))
      problems->Add(value,
                    fmt::format("{}: write either value: 1.5 or expression: 2 * cols", what));
    if (number)
      scalar.value = ReadBounded(*number, what + ": value", -1e300, 1e300, problems).value_or(0);
    if (const auto bits = RealBits(scalar.value, ParameterTypeOf(scalar.dtype)); number && !bits)
      problems->Add(*number, fmt::format("{}: {}", what, bits.error().message));
    if (expression)
      scalar.expression = ReadExpression(*expression, what + ": expression", problems).value_or("");
    scalars.push_back(std::move(scalar));
  });
  return scalars;
}

std::vector<OutputSpec> ReadOutputs(const YamlNode& node, YamlProblems* problems) {
  std::vector<OutputSpec> outputs;
  ForEachNamed(node, "outputs", problems, [&](const YamlNode& key, const YamlNode& value) {
    outputs.push_back(ReadOutput(key, value, problems));
  });
  return outputs;
}

Work ReadWork(const YamlNode& node, YamlProblems* problems) {
  Work work;
  const Fields fields(node, "work", {"flops", "read_bytes", "write_bytes"}, problems);
  const auto read = [&](const char* name, std::string* out) {
    if (const auto* text = fields.Find(name))
      *out = ReadExpression(*text, std::string("work: ") + name, problems).value_or("");
  };
  read("flops", &work.flops);
  read("read_bytes", &work.read_bytes);
  read("write_bytes", &work.write_bytes);
  return work;
}

}  // namespace warpsmith
