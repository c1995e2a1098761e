// The grammar of kernel names; see plan_file.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/suite/expression.h"
#include "common/suite/plan_file.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxNameBytes = 256;
constexpr int kMaxNameDepth = 4;

constexpr std::array<std::string_view, 9> kFundamental{
    "unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool"};

// Words of C++ that begin something else than a name.
constexpr std::array<std::string_view, 48> kKeywords{
    "alignas",  "alignof",   "asm",      "auto",      "break",     "case",      "catch",
    "class",    "concept",   "const",    "consteval", "constexpr", "constinit", "continue",
    "decltype", "default",   "delete",   "do",        "else",      "enum",      "explicit",
    "export",   "extern",    "for",      "friend",    "goto",      "if",        "inline",
    "mutable",  "namespace", "new",      "noexcept",  "operator",  "private",   "protected",
    "public",   "register",  "requires", "return",    "sizeof",    "static",    "struct",
    "switch",   "template",  "this",     "throw",     "typename",  "using"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class NameParser {
 public:
  explicit NameParser(std::string_view text) : text_(text) {}

  Status Run() {
    if (text_.size() > kMaxNameBytes)
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("longer than {} characters", kMaxNameBytes));
    RETURN_IF_ERROR(Name(0));
    if (Peek() != '\0') return Unexpected("nothing more");
    return {};
  }

 private:
  char Peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(std::string_view token) {
    Peek();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  // Letters, digits and '_' from here; may be empty.
  std::string_view Word() {
    Peek();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  tl::unexpected<Error> Unexpected(std::string_view wanted) {
    const char c = Peek();
    const bool visible = c > 32 && c < 127;
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("expected {} at {}", wanted,
                    at_ >= text_.size() ? std::string("its end")
                    : visible           ? fmt::format("`{}`", c)
                              : fmt::format("byte {:#04x}", static_cast<unsigned char>(c))));
  }

  Status Name(int depth) {
    do {
      const auto word = Word();
      if (!IsIdentifier(word)) return Unexpected("a name");
      if (Contains(kKeywords, word) || Contains(kFundamental, word))
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("`{}` is a word of C++, not a name", word));
    } while (Take("::"));
    return Peek() == '<' ? Arguments(depth) : Status{};
  }

  Status Arguments(int depth) {
    if (depth >= kMaxNameDepth)
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("templates nested more than {} deep", kMaxNameDepth));
    Take("<");
    do RETURN_IF_ERROR(Argument(depth));
    while (Take(","));
    if (!Take(">")) return Unexpected("`,` or `>`");
    return {};
  }

  Status Argument(int depth) {
    const bool negative = Take("-");
    if (std::isdigit(static_cast<unsigned char>(Peek())) != 0) {
      auto word = Word();
      while (!word.empty() && std::string_view("uUlL").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
      if (!std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }) ||
          word.size() > 20)
        return Fail(ErrorCode::kInvalidInput, fmt::format("`{}` is not a whole number", word));
      return {};
    }
    if (negative) return Unexpected("a whole number");
    return Type(depth);
  }

  template <typename Wanted>
  bool TakeWordIf(Wanted wanted) {
    const size_t begin = at_;
    if (wanted(Word())) return true;
    at_ = begin;
    return false;
  }

  Status Type(int depth) {
    TakeWordIf([](std::string_view word) { return word == "const"; });
    bool fundamental = false;
    while (TakeWordIf([](std::string_view word) { return Contains(kFundamental, word); }))
      fundamental = true;
    if (!fundamental) RETURN_IF_ERROR(Name(depth + 1));  // `true` and `false` look like names
    while (Take("*")) {
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Status CheckKernelName(std::string_view text) { return NameParser(text).Run(); }

}  // namespace warpsmith
