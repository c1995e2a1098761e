#include "worker/device/source_text.h"

#include <fmt/format.h>

#include <cctype>

namespace warpsmith {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHexDigit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// What g++ takes for spaces between a backslash and the end of its line.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\r'; }

// Reads one identifier or number whole from `text`, which begins with one of its characters: where
// a number ends and a character literal begins is where readers differ. Nothing: a number with a
// quote that separates no digits.
std::optional<std::string_view> Word(std::string_view text) {
  const bool number = IsDigit(text[0]) || (text[0] == '.' && text.size() > 1 && IsDigit(text[1]));
  size_t end = 1;
  for (; end < text.size(); ++end) {
    const char c = text[end], before = text[end - 1];
    if (IsIdentifierCharacter(c)) continue;
    if (!number) break;
    if (c == '.') continue;
    const bool exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
    if (exponent && (c == '+' || c == '-')) continue;
    if (c != '\'') break;
    if (!IsHexDigit(before) || end + 1 >= text.size() || !IsHexDigit(text[end + 1]))
      return std::nullopt;
  }
  return text.substr(0, end);
}

}  // namespace

bool IsIdentifierCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::variant<StrippedText, Rejected> StripText(std::string_view text) {
  for (const std::string_view trigraph : {"?\?=", "?\?/"})
    if (text.find(trigraph) != std::string_view::npos)
      return Rejected{fmt::format("trigraph {} is not allowed", trigraph)};
  StrippedText out;
  std::string spliced;
  std::vector<int> lines;
  int line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      size_t next = i + 1;
      if (next < text.size() && text[next] == '\r') ++next;
      if (next < text.size() && text[next] == '\n') {
        ++line;
        i = next;
        continue;
      }
      while (next < text.size() && IsBlank(text[next])) ++next;
      // Some join the lines all the same.
      if (next < text.size() && text[next] == '\n')
        return Rejected{fmt::format(
            "line {}: spaces between a backslash and the end of its line: take them away", line)};
    }
    // Compilers differ on whether it ends a line; a reader of this text must not.
    if (text[i] == '\r' && (i + 1 >= text.size() || text[i + 1] != '\n'))
      return Rejected{fmt::format("line {}: a carriage return without a line feed", line)};
    const bool ends = text[i] == '\n';
    spliced.push_back(text[i] == '\r' ? ' ' : text[i]);
    lines.push_back(line);
    if (ends) ++line;
  }

  const auto put = [&](char c, size_t at) {
    out.code.push_back(c);
    out.line.push_back(lines[at]);
  };
  size_t i = 0;
  const size_t n = spliced.size();
  while (i < n) {
    const char c = spliced[i];
    if (c == '/' && i + 1 < n && spliced[i + 1] == '/') {
      while (i < n && spliced[i] != '\n') ++i;
      continue;
    }
    if (c == '/' && i + 1 < n && spliced[i + 1] == '*') {
      const size_t end = spliced.find("*/", i + 2);
      const size_t stop = end == std::string::npos ? n : end + 2;
      put(' ', i);
      for (; i < stop; ++i)
        if (spliced[i] == '\n') put('\n', i);
      continue;
    }
    if (c == '"' || c == '\'') {
      if (c == '"' && i > 0 && spliced[i - 1] == 'R')
        return Rejected{
            fmt::format("line {}: raw string literals are not allowed: write \"...\"", lines[i])};
      const size_t open = out.code.size();
      put(c, i++);
      std::string literal;
      while (i < n && spliced[i] != c && spliced[i] != '\n') {
        if (spliced[i] == '\\' && i + 1 < n && spliced[i + 1] != '\n')
          literal.push_back(spliced[i++]);
        literal.push_back(spliced[i++]);
      }
      if (i < n && spliced[i] == c) put(c, i++);
      if (c == '"') out.literals.emplace(open, literal);
      continue;
    }
    const bool point = c == '.' && i + 1 < n && IsDigit(spliced[i + 1]);
    if (IsIdentifierCharacter(c) || point) {
      const auto word = Word(std::string_view(spliced).substr(i));
      if (!word)
        return Rejected{
            fmt::format("line {}: a quote in a number that separates no digits", lines[i])};
      for (const char letter : *word) put(letter == '\'' ? ' ' : letter, i++);
      continue;
    }
    // Compilers differ on what may belong to a name, and a backslash could begin such a character.
    if (c == '$' || c == '\\' || static_cast<unsigned char>(c) >= 0x80)
      return Rejected{fmt::format("line {}: {} outside of comments and literals", lines[i],
                                  c == '$'    ? "a dollar sign"
                                  : c == '\\' ? "a backslash"
                                              : "a character beyond ASCII")};
    put(c, i++);
  }
  return out;
}

std::vector<Directive> Directives(const StrippedText& stripped) {
  std::vector<Directive> found;
  const std::string& code = stripped.code;
  size_t start = 0;
  while (start < code.size()) {
    size_t end = code.find('\n', start);
    if (end == std::string::npos) end = code.size();
    size_t at = code.find_first_not_of(" \t\v\f", start);
    if (at < end) {
      const bool hash = code[at] == '#';
      const bool digraph = code.compare(at, 2, "%:") == 0;
      if (hash || digraph) {
        Directive directive;
        directive.line = stripped.line[at];
        at += hash ? 1 : 2;
        while (at < end && std::isspace(static_cast<unsigned char>(code[at]))) ++at;
        while (at < end && IsIdentifierCharacter(code[at])) directive.name.push_back(code[at++]);
        directive.rest = code.substr(at, end - at);
        // The name inside quotes was set apart.
        const size_t quote = code.find('"', at);
        if (quote < end) {
          const auto literal = stripped.literals.find(quote);
          if (literal != stripped.literals.end())
            directive.rest = code.substr(at, quote - at) + '"' + literal->second +
                             code.substr(quote + 1, end - quote - 1);
        }
        found.push_back(directive);
      }
    }
    start = end + 1;
  }
  return found;
}

std::optional<int> FindToken(const StrippedText& stripped, std::string_view token) {
  const bool word = IsIdentifierCharacter(token.front());
  for (size_t at = stripped.code.find(token); at != std::string::npos;
       at = stripped.code.find(token, at + 1)) {
    const size_t end = at + token.size();
    const bool whole =
        !word || ((at == 0 || !IsIdentifierCharacter(stripped.code[at - 1])) &&
                  (end >= stripped.code.size() || !IsIdentifierCharacter(stripped.code[end])));
    if (whole) return stripped.line[at];
  }
  return std::nullopt;
}

const std::vector<std::string>& StandardHeaders() {
  static const std::vector<std::string> headers = {
#define WARPSMITH_HEADER(name) name,
#include "worker/device/standard_headers.inc"
#undef WARPSMITH_HEADER
  };
  return headers;
}

}  // namespace warpsmith
