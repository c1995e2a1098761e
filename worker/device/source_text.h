// A candidate's text as a C++ reader sees it before macros, for the checks that need no parser:
// what is included, which words stand outside comments and literals. Both devices' compilers use
// it. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/model/outcome.h"

namespace warpsmith {

// Line splices undone, comments blanked, strings kept apart.
struct StrippedText {
  std::string code;       // comments and literals' insides are gone or spaces; newlines are kept
  std::vector<int> line;  // the author's line of each character of `code`
  std::map<size_t, std::string> literals;  // the string literal whose quote stands at code[key]
};

// Rejected: whatever compilers read in more than one way, for a text could hide in the difference:
// trigraphs, lone carriage returns, raw strings, spaces after a line's last backslash, stray quotes
// in numbers, and outside of comments and literals all but plain ASCII.
std::variant<StrippedText, Rejected> StripText(std::string_view text);

struct Directive {
  int line = 0;
  std::string name;  // "include"
  std::string rest;  // what follows on its line
};
std::vector<Directive> Directives(const StrippedText& stripped);

// The line on which a token of punctuation or a whole word first stands, if it does.
std::optional<int> FindToken(const StrippedText& stripped, std::string_view token);

bool IsIdentifierCharacter(char c);

// standard_headers.inc. Each device adds what else may be included there.
const std::vector<std::string>& StandardHeaders();

}  // namespace warpsmith
