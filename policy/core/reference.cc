#include "policy/core/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace warpsmith {
namespace {

enum class TokenKind { kName, kNumber, kString, kSymbol, kNewline, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  double number = 0;
  int line = 1;
  int column = 1;
};

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> FailAt(const Token& token, const std::string& what) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("reference:{}:{}: {}", token.line, token.column, what));
}

// Newlines inside of brackets are spaces, as in Python. Indentation carries no meaning here: there
// are no nested blocks in the subset.
Result<std::vector<Token>> Tokenize(std::string_view text) {
  std::vector<Token> tokens;
  int line = 1, brackets = 0;
  size_t line_start = 0, i = 0;
  while (i < text.size()) {
    const char c = text[i];
    Token token{.line = line, .column = static_cast<int>(i - line_start) + 1};
    if (c == '\n') {
      if (brackets == 0 && !tokens.empty() && tokens.back().kind != TokenKind::kNewline) {
        token.kind = TokenKind::kNewline;
        tokens.push_back(token);
      }
      ++line;
      line_start = ++i;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
      continue;
    }
    if (c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
      continue;
    }
    const size_t start = i;
    if (IsNameStart(c)) {
      while (i < text.size() && (IsNameStart(text[i]) || IsDigit(text[i]))) ++i;
      token.kind = TokenKind::kName;
    } else if (IsDigit(c) || (c == '.' && i + 1 < text.size() && IsDigit(text[i + 1]))) {
      const auto [end, error] =
          std::from_chars(text.data() + i, text.data() + text.size(), token.number);
      if (error != std::errc()) return FailAt(token, "a number that cannot be read");
      i = static_cast<size_t>(end - text.data());
      token.kind = TokenKind::kNumber;
    } else if (c == '"' || c == '\'') {
      const size_t close = text.find(c, i + 1);
      const size_t end_of_line = text.find('\n', i);
      if (close == std::string_view::npos || close > end_of_line)
        return FailAt(token, "a string without its closing quote");
      i = close + 1;
      token.kind = TokenKind::kString;
      token.text = std::string(text.substr(start + 1, close - start - 1));
      tokens.push_back(token);
      continue;
    } else {
      token.kind = TokenKind::kSymbol;
      i += text.substr(i, 2) == "**" || text.substr(i, 2) == "->" ? 2 : 1;
      if (c == '(' || c == '[') ++brackets;
      if ((c == ')' || c == ']') && brackets > 0) --brackets;
    }
    token.text = std::string(text.substr(start, i - start));
    tokens.push_back(token);
  }
  tokens.push_back(Token{.kind = TokenKind::kNewline, .line = line});
  tokens.push_back(Token{.kind = TokenKind::kEnd, .line = line});
  return tokens;
}

// Counts the nodes of the written-out tree, up to just over the limit.
ExprPtr Make(Expr expr) {
  for (const ExprPtr& arg : expr.args) expr.nodes += arg->nodes;
  for (const auto& [key, value] : expr.keywords) expr.nodes += value->nodes;
  expr.nodes = std::min(expr.nodes, kMaxReferenceNodes + 1);
  return std::make_shared<Expr>(std::move(expr));
}

ExprPtr MakeCall(std::string name, std::vector<ExprPtr> args) {
  return Make({.kind = ExprKind::kCall, .name = std::move(name), .args = std::move(args)});
}

ExprPtr MakeNumber(double number) { return Make({.kind = ExprKind::kNumber, .number = number}); }

// Recursive descent; `depth_` bounds the recursion.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<ReferenceTree> Function() {
    SkipNewlines();
    RETURN_IF_ERROR(Expect("def"));
    if (Next().text != "reference") return FailAt(Previous(), "the function must be `reference`");
    RETURN_IF_ERROR(Expect("("));
    ReferenceTree reference;
    while (Peek().text != ")") {
      if (Peek().kind != TokenKind::kName) return FailAt(Peek(), "expected a parameter's name");
      reference.parameters.push_back(Next().text);
      const std::string& name = reference.parameters.back();
      names_[name] = Make({.kind = ExprKind::kName, .name = name});
      if (Accept(":")) RETURN_IF_ERROR(SkipAnnotation());
      if (!Accept(",")) break;
    }
    RETURN_IF_ERROR(Expect(")"));
    if (Accept("->")) RETURN_IF_ERROR(SkipAnnotation());
    RETURN_IF_ERROR(Expect(":"));
    for (;;) {
      SkipNewlines();
      if (Accept("return")) break;
      RETURN_IF_ERROR(Assignment());
    }
    do {
      if (Peek().kind == TokenKind::kNewline) break;  // `return a,`
      ASSIGN_OR_RETURN(ExprPtr result, Sum());
      reference.results.push_back(std::move(result));
    } while (Accept(","));
    // `return (a, b)` is the same tuple.
    if (reference.results.size() == 1 && reference.results[0]->kind == ExprKind::kList) {
      auto elements = reference.results[0]->args;
      reference.results = std::move(elements);
    }
    if (reference.results.empty()) return FailAt(Peek(), "`return` needs an expression");
    SkipNewlines();
    if (Peek().kind != TokenKind::kEnd) return FailAt(Peek(), "nothing may follow `return`");
    for (const ExprPtr& result : reference.results)
      if (result->nodes > kMaxReferenceNodes) return FailAt(Peek(), "the expression is too large");
    return reference;
  }

 private:
  const Token& Peek() const { return tokens_[position_]; }
  const Token& Previous() const { return tokens_[position_ > 0 ? position_ - 1 : 0]; }
  const Token& Next() {
    const Token& token = tokens_[position_];
    if (token.kind != TokenKind::kEnd) ++position_;
    return token;
  }
  bool Accept(std::string_view text) {
    if (Peek().text != text || Peek().kind == TokenKind::kString) return false;
    Next();
    return true;
  }
  Status Expect(std::string_view text) {
    if (Accept(text)) return {};
    return FailAt(Peek(), fmt::format("expected `{}`", text));
  }
  void SkipNewlines() {
    while (Peek().kind == TokenKind::kNewline) Next();
  }

  // A type such as Tensor, List[int] or Tuple[Tensor, Tensor]: it says nothing that the task does
  // not.
  Status SkipAnnotation() {
    if (Peek().kind != TokenKind::kName) return FailAt(Peek(), "expected a type");
    Next();
    while (Accept(".")) Next();
    if (!Accept("[")) return {};
    for (int open = 1; open > 0;) {
      const Token& token = Next();
      if (token.kind == TokenKind::kEnd) return FailAt(token, "a type without its closing bracket");
      if (token.text == "[") ++open;
      if (token.text == "]") --open;
    }
    return {};
  }

  Status Assignment() {
    if (Peek().kind != TokenKind::kName)
      return FailAt(Peek(), "expected an assignment or `return`");
    const std::string name = Next().text;
    if (Accept(":")) RETURN_IF_ERROR(SkipAnnotation());
    RETURN_IF_ERROR(Expect("="));
    ASSIGN_OR_RETURN(ExprPtr value, Sum());
    if (Peek().kind != TokenKind::kNewline) return FailAt(Peek(), "expected the end of the line");
    if (value->nodes > kMaxReferenceNodes) return FailAt(Peek(), "the expression is too large");
    names_[name] = std::move(value);
    return {};
  }

  Result<ExprPtr> Sum() {
    if (++depth_ > kMaxReferenceDepth) return FailAt(Peek(), "nested too deeply");
    ASSIGN_OR_RETURN(ExprPtr left, Product());
    while (Peek().text == "+" || Peek().text == "-") {
      const bool plus = Next().text == "+";
      ASSIGN_OR_RETURN(ExprPtr right, Product());
      left = MakeCall(plus ? "add" : "sub", {left, right});
    }
    --depth_;
    return left;
  }

  Result<ExprPtr> Product() {
    ASSIGN_OR_RETURN(ExprPtr left, Unary());
    while (Peek().text == "*" || Peek().text == "/") {
      const bool times = Next().text == "*";
      ASSIGN_OR_RETURN(ExprPtr right, Unary());
      left = MakeCall(times ? "mul" : "div", {left, right});
    }
    return left;
  }

  Result<ExprPtr> Unary() {
    if (++depth_ > kMaxReferenceDepth) return FailAt(Peek(), "nested too deeply");
    ExprPtr result;
    if (Accept("-")) {
      ASSIGN_OR_RETURN(ExprPtr operand, Unary());
      result = operand->kind == ExprKind::kNumber ? MakeNumber(-operand->number)
                                                  : MakeCall("neg", {operand});
    } else {
      ASSIGN_OR_RETURN(result, Power());
    }
    --depth_;
    return result;
  }

  Result<ExprPtr> Power() {
    ASSIGN_OR_RETURN(ExprPtr base, Postfix());
    if (!Accept("**")) return base;
    ASSIGN_OR_RETURN(ExprPtr exponent, Unary());
    return MakeCall("pow", {base, exponent});
  }

  // An atom, or a function of torch, with the .attributes and .calls() that follow.
  Result<ExprPtr> Postfix() {
    ExprPtr value;
    if (Peek().text == "torch" && Peek().kind == TokenKind::kName) {
      ASSIGN_OR_RETURN(value, TorchFunction());
    } else {
      ASSIGN_OR_RETURN(value, Atom());
    }
    while (Accept(".")) {
      if (Peek().kind != TokenKind::kName) return FailAt(Peek(), "expected a method's name");
      const std::string method = Next().text;
      if (Accept("(")) {
        ASSIGN_OR_RETURN(value, Call(method, {value}));
      } else {
        value = MakeCall(method, {value});  // x.T
      }
    }
    return value;
  }

  // torch.f(...), torch.special.f(...), or a name of torch's such as torch.float32.
  Result<ExprPtr> TorchFunction() {
    Next();
    std::string name;
    while (Accept(".")) {
      if (Peek().kind != TokenKind::kName) return FailAt(Peek(), "expected a function's name");
      name = Next().text;
    }
    if (name.empty()) return FailAt(Peek(), "expected `torch.` and a function's name");
    if (Accept("(")) return Call(name, {});
    return MakeCall(name, {});
  }

  // After "(".
  Result<ExprPtr> Call(const std::string& name, std::vector<ExprPtr> first) {
    Expr call{.kind = ExprKind::kCall, .name = name, .args = std::move(first)};
    while (!Accept(")")) {
      const bool keyword = Peek().kind == TokenKind::kName && tokens_[position_ + 1].text == "=";
      if (keyword) {
        const std::string key = Next().text;
        Next();
        ASSIGN_OR_RETURN(ExprPtr value, Sum());
        call.keywords.emplace_back(key, std::move(value));
      } else {
        ASSIGN_OR_RETURN(ExprPtr value, Sum());
        call.args.push_back(std::move(value));
      }
      if (Accept(",")) continue;
      RETURN_IF_ERROR(Expect(")"));
      break;
    }
    return Make(std::move(call));
  }

  Result<ExprPtr> Atom() {
    const Token token = Next();
    switch (token.kind) {
      case TokenKind::kNumber: return MakeNumber(token.number);
      case TokenKind::kString: return Make({.kind = ExprKind::kString, .name = token.text});
      case TokenKind::kName: {
        if (token.text == "True" || token.text == "False" || token.text == "None")
          return Make({.kind = ExprKind::kConstant, .name = token.text});
        const auto known = names_.find(token.text);
        if (known == names_.end())
          return FailAt(token,
                        fmt::format("`{}` is no parameter and assigned nowhere", token.text));
        return known->second;
      }
      case TokenKind::kSymbol:
        if (token.text == "(") return Bracketed(")", false);
        if (token.text == "[") return Bracketed("]", true);
        break;
      default: break;
    }
    return FailAt(token, "expected a value");
  }

  Result<ExprPtr> Bracketed(const char* close, bool always_list) {
    Expr list{.kind = ExprKind::kList};
    bool comma = false;
    while (!Accept(close)) {
      ASSIGN_OR_RETURN(ExprPtr value, Sum());
      list.args.push_back(std::move(value));
      if (Accept(",")) {
        comma = true;
        continue;
      }
      RETURN_IF_ERROR(Expect(close));
      break;
    }
    if (!always_list && !comma && list.args.size() == 1) return list.args[0];
    return Make(std::move(list));
  }

  std::vector<Token> tokens_;
  size_t position_ = 0;
  int depth_ = 0;
  std::map<std::string, ExprPtr> names_;
};

}  // namespace

Result<ReferenceTree> ParseReference(std::string_view text) {
  if (text.size() > kMaxReferenceBytes)
    return Fail(ErrorCode::kInvalidInput, "reference: the text is too long");
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Parser(std::move(tokens)).Function();
}

std::string ToString(const Expr& expr) {
  std::string inside;
  for (const ExprPtr& arg : expr.args) inside += (inside.empty() ? "" : ", ") + ToString(*arg);
  for (const auto& [key, value] : expr.keywords)
    inside += (inside.empty() ? "" : ", ") + key + "=" + ToString(*value);
  switch (expr.kind) {
    case ExprKind::kNumber: return fmt::format("{}", expr.number);
    case ExprKind::kString: return "'" + expr.name + "'";
    case ExprKind::kList: return "[" + inside + "]";
    case ExprKind::kCall: return expr.name + "(" + inside + ")";
    case ExprKind::kName:
    case ExprKind::kConstant: break;
  }
  return expr.name;
}

bool SameExpr(const Expr& a, const Expr& b) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.number != b.number || a.name != b.name ||
      a.args.size() != b.args.size() || a.keywords.size() != b.keywords.size())
    return false;
  for (size_t i = 0; i < a.args.size(); ++i)
    if (!SameExpr(*a.args[i], *b.args[i])) return false;
  for (size_t i = 0; i < a.keywords.size(); ++i)
    if (a.keywords[i].first != b.keywords[i].first ||
        !SameExpr(*a.keywords[i].second, *b.keywords[i].second))
      return false;
  return true;
}

bool Mentions(const Expr& expr, std::string_view name) {
  if (expr.kind == ExprKind::kName && expr.name == name) return true;
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const ExprPtr& arg) { return Mentions(*arg, name); }) ||
         std::any_of(expr.keywords.begin(), expr.keywords.end(),
                     [&](const auto& keyword) { return Mentions(*keyword.second, name); });
}

bool IsCall(const Expr& expr, std::string_view name, int arity) {
  return expr.kind == ExprKind::kCall && expr.name == name &&
         (arity < 0 || expr.args.size() == static_cast<size_t>(arity));
}

ExprPtr Argument(const Expr& call, size_t position, std::string_view name) {
  if (position < call.args.size()) return call.args[position];
  for (const auto& [key, value] : call.keywords)
    if (key == name) return value;
  return nullptr;
}

}  // namespace warpsmith
