#include "common/suite/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace warpsmith {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 3> kFunctions{"ceil_div", "min", "max"};

// Parses and computes in one pass. Without names (`names` null) every name and every value counts
// as 1 and arithmetic is not checked, so that only the grammar can fail.
class Parser {
 public:
  Parser(std::string_view text, const Names* names) : text_(text), names_(names) {}

  Result<int64_t> Run() {
    if (text_.size() > kMaxExpressionBytes)
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("expression of {} bytes; at most {} are allowed", text_.size(),
                              kMaxExpressionBytes));
    const int64_t value = Sum(0);
    SkipSpace();
    if (!problem_ && at_ < text_.size())
      Stop(fmt::format("unexpected '{}'", Printable(text_[at_])));
    if (problem_)
      return Fail(ErrorCode::kInvalidInput, fmt::format("in `{}`: {}", Excerpt(), *problem_));
    return value;
  }

  std::vector<std::string> used;

 private:
  static std::string Printable(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 32 && byte < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }

  std::string Excerpt() const {
    std::string excerpt;
    for (const char c : text_.substr(0, 80)) excerpt += Printable(c);
    return excerpt + (text_.size() > 80 ? "..." : "");
  }

  void Stop(std::string why) {
    if (!problem_) problem_ = std::move(why);
    at_ = text_.size();  // every loop below ends at the end of the text
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  // The next character that is not space; '\0' at the end.
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char c) {
    if (at_ >= text_.size() || Peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  int64_t Overflow() {
    Stop("the value does not fit in 64 bits");
    return 1;
  }

  int64_t Apply(char op, int64_t a, int64_t b) {
    if (!names_ || problem_) return 1;
    int64_t r = 0;
    bool overflow = false;
    switch (op) {
      case '+': overflow = __builtin_add_overflow(a, b, &r); break;
      case '-': overflow = __builtin_sub_overflow(a, b, &r); break;
      case '*': overflow = __builtin_mul_overflow(a, b, &r); break;
      default:
        if (b == 0) {
          Stop("division by zero");
          return 1;
        }
        overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
        if (!overflow) r = op == '/' ? a / b : a % b;
    }
    return overflow ? Overflow() : r;
  }

  int64_t Sum(int depth) {
    int64_t value = Product(depth);
    for (char op = Peek(); op == '+' || op == '-'; op = Peek()) {
      ++at_;
      value = Apply(op, value, Product(depth));
    }
    return value;
  }

  int64_t Product(int depth) {
    int64_t value = Unary(depth);
    for (char op = Peek(); op == '*' || op == '/' || op == '%'; op = Peek()) {
      ++at_;
      value = Apply(op, value, Unary(depth));
    }
    return value;
  }

  int64_t Unary(int depth) {
    bool negative = false;
    while (Take('-')) negative = !negative;
    const int64_t value = Primary(depth);
    return negative ? Apply('-', 0, value) : value;
  }

  int64_t Primary(int depth) {
    if (depth >= kMaxExpressionDepth) {
      Stop(fmt::format("nested more than {} deep", kMaxExpressionDepth));
      return 1;
    }
    const char c = Peek();
    if (IsDigit(c)) return Number();
    if (IsLetter(c)) return NameOrCall(depth);
    if (Take('(')) {
      const int64_t value = Sum(depth + 1);
      if (!Take(')')) Stop("a ')' is missing");
      return value;
    }
    Stop(at_ >= text_.size() ? "a number or a name is missing"
                             : fmt::format("expected a number or a name, not '{}'", Printable(c)));
    return 1;
  }

  int64_t Number() {
    int64_t value = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t{text_[at_] - '0'}, &value)) {
        Stop("a number does not fit in 64 bits");
        return 1;
      }
    }
    if (at_ < text_.size() && (IsLetter(text_[at_]) || text_[at_] == '.'))
      Stop(fmt::format("`{}` is not a whole number in decimal",
                       text_.substr(begin, at_ - begin + 1)));
    return value;
  }

  int64_t NameOrCall(int depth) {
    const size_t begin = at_;
    while (at_ < text_.size() && (IsLetter(text_[at_]) || IsDigit(text_[at_]))) ++at_;
    const std::string name(text_.substr(begin, at_ - begin));
    if (Peek() == '(') return Call(name, depth);
    if (!IsIdentifier(name)) {
      Stop("a name is longer than 64 letters");
      return 1;
    }
    if (std::find(used.begin(), used.end(), name) == used.end()) used.push_back(name);
    if (!names_) return 1;
    const auto found = names_->find(name);
    if (found == names_->end()) {
      Stop(fmt::format("`{}` is not known here; known: {}", name, Known()));
      return 1;
    }
    return found->second;
  }

  std::string Known() const {
    std::string text;
    for (const auto& [name, value] : *names_) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "no names" : text;
  }

  int64_t Call(const std::string& name, int depth) {
    if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) {
      Stop(fmt::format("no function `{}`; there are ceil_div, min and max", name));
      return 1;
    }
    Take('(');
    std::vector<int64_t> arguments;
    do arguments.push_back(Sum(depth + 1));
    while (Take(','));
    if (!Take(')')) Stop(fmt::format("a ')' is missing after the arguments of {}", name));
    if (problem_) return 1;
    if (arguments.size() < 2 || (name == "ceil_div" && arguments.size() != 2)) {
      Stop(fmt::format("{} takes {} arguments, not {}", name,
                       name == "ceil_div" ? "two" : "two or more", arguments.size()));
      return 1;
    }
    if (name == "min") return *std::min_element(arguments.begin(), arguments.end());
    if (name == "max") return *std::max_element(arguments.begin(), arguments.end());
    const int64_t quotient = Apply('/', arguments[0], arguments[1]);
    const int64_t rest = Apply('%', arguments[0], arguments[1]);
    if (!names_ || problem_) return 1;
    // Towards plus infinity also for negative values: a rest of the divisor's sign was cut off
    // below.
    return quotient + (rest != 0 && (rest > 0) == (arguments[1] > 0) ? 1 : 0);
  }

  std::string_view text_;
  const Names* names_;
  size_t at_ = 0;
  std::optional<std::string> problem_;
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<int64_t> EvaluateExpression(std::string_view text, const Names& names) {
  return Parser(text, &names).Run();
}

Status CheckExpression(std::string_view text) {
  ASSIGN_OR_RETURN([[maybe_unused]] const int64_t ignored, Parser(text, nullptr).Run());
  return {};
}

Result<std::vector<std::string>> NamesUsed(std::string_view text) {
  Parser parser(text, nullptr);
  ASSIGN_OR_RETURN([[maybe_unused]] const int64_t ignored, parser.Run());
  return std::move(parser.used);
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && IsLetter(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

bool IsReservedName(std::string_view name) {
  constexpr std::array<std::string_view, 3> kFacts{"sm_count", "warp_size", "max_shared"};
  return std::find(kFunctions.begin(), kFunctions.end(), name) != kFunctions.end() ||
         std::find(kFacts.begin(), kFacts.end(), name) != kFacts.end();
}

Result<std::vector<std::string>> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  std::string open;  // closing brackets still awaited
  size_t begin = 0;
  const auto add = [&](size_t end) -> Status {
    const auto part = Trim(text.substr(begin, end - begin));
    if (part.empty())
      return Fail(ErrorCode::kInvalidInput, fmt::format("part {} is empty", parts.size() + 1));
    parts.emplace_back(part);
    begin = end + 1;
    return {};
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') open += ')';
    if (c == '[') open += ']';
    if (c == '{') open += '}';
    if (c == '<') open += '>';
    if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (open.empty() || open.back() != c)
        return Fail(ErrorCode::kInvalidInput, fmt::format("a '{}' closes nothing", c));
      open.pop_back();
    }
    if (c == ',' && open.empty()) RETURN_IF_ERROR(add(i));
  }
  if (!open.empty())
    return Fail(ErrorCode::kInvalidInput, fmt::format("a '{}' is missing", open.back()));
  RETURN_IF_ERROR(add(text.size()));
  return parts;
}

}  // namespace warpsmith
