#include "worker/cuda/candidate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

namespace warpsmith {
namespace {

// Headers of the toolkit that hold device code only. Folders end in '/'.
constexpr std::array kAllowedHeaders = {"cuda_runtime.h",
                                        "cuda_fp16.h",
                                        "cuda_bf16.h",
                                        "cuda_fp8.h",
                                        "cuda_fp6.h",
                                        "cuda_fp4.h",
                                        "mma.h",
                                        "cuComplex.h",
                                        "math_constants.h",
                                        "vector_types.h",
                                        "vector_functions.h",
                                        "cuda_pipeline.h",
                                        "cuda_pipeline_primitives.h",
                                        "cuda_awbarrier.h",
                                        "cuda_awbarrier_primitives.h",
                                        "cooperative_groups.h",
                                        "cooperative_groups/",
                                        "cuda/",
                                        "cub/block/",
                                        "cub/warp/",
                                        "cub/thread/",
                                        "cub/util_type.cuh",
                                        "cub/util_ptx.cuh"};

bool IsIdentifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The text as a C++ reader sees it before macros: line splices undone, comments blanked, strings
// kept apart. `line[i]` is the author's line of character i.
struct Stripped {
  std::string code;  // comments and literals' insides are spaces; newlines are kept
  std::vector<int> line;
  std::map<size_t, std::string>
      literals;  // text of the string literal whose quote stands at code[key]
};

std::variant<Stripped, Rejected> Strip(std::string_view text) {
  Stripped out;
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
      const bool prefixed = i > 0 && IsIdentifier(spliced[i - 1]);
      if (c == '"' && prefixed && spliced[i - 1] == 'R')
        return Rejected{
            fmt::format("line {}: raw string literals are not allowed: write \"...\"", lines[i])};
      if (c == '\'' && prefixed && std::isxdigit(static_cast<unsigned char>(spliced[i - 1])) &&
          i + 1 < n && std::isxdigit(static_cast<unsigned char>(spliced[i + 1]))) {
        // 1'000'000, unless it is a character after a prefix such as u8'a'; a number starts with a
        // digit.
        size_t start = i;
        while (start > 0 && (IsIdentifier(spliced[start - 1]) || spliced[start - 1] == '\''))
          --start;
        if (std::isdigit(static_cast<unsigned char>(spliced[start]))) {
          put(' ', i++);
          continue;
        }
      }
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
    put(c, i++);
  }
  return out;
}

// A directive's name and what follows on its line.
struct Directive {
  int line = 0;
  std::string name;
  std::string rest;
};

std::vector<Directive> Directives(const Stripped& stripped) {
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
        while (at < end && IsIdentifier(code[at])) directive.name.push_back(code[at++]);
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

std::string Trim(std::string text) {
  const auto space = [](unsigned char c) { return std::isspace(c); };
  while (!text.empty() && space(text.back())) text.pop_back();
  size_t lead = 0;
  while (lead < text.size() && space(text[lead])) ++lead;
  return text.substr(lead);
}

bool IsAllowedHeader(const std::string& name) {
  if (name.find("..") != std::string::npos || name.find('\\') != std::string::npos) return false;
  for (const std::string_view allowed : kAllowedHeaders) {
    if (name == allowed) return true;
    if (allowed.ends_with('/') && name.starts_with(allowed)) return true;
  }
  const auto& shimmed = ShimmedHeaders();
  return std::find(shimmed.begin(), shimmed.end(), name) != shimmed.end();
}

std::variant<std::string, Rejected> IncludeName(const Directive& directive) {
  const std::string rest = Trim(directive.rest);
  const bool angle = rest.size() > 2 && rest.front() == '<' && rest.back() == '>';
  const bool quoted = rest.size() > 2 && rest.front() == '"' && rest.back() == '"';
  if (!angle && !quoted)
    return Rejected{fmt::format("line {}: #include needs a plain <name>", directive.line)};
  const std::string name = rest.substr(1, rest.size() - 2);
  if (!IsAllowedHeader(name))
    return Rejected{
        fmt::format("line {}: #include of \"{}\" is not allowed; a candidate may include CUDA's "
                    "device headers (cuda_fp16.h, cuda_bf16.h, mma.h, cooperative_groups.h, "
                    "cuda/..., cub/block/..., cub/warp/...) and <cstdint>, <cmath> and the like",
                    directive.line, name)};
  return name;
}

// The line on which a token of punctuation or a whole word stands, if it does.
std::optional<int> FindToken(const Stripped& stripped, std::string_view token) {
  const bool word = IsIdentifier(token.front());
  for (size_t at = stripped.code.find(token); at != std::string::npos;
       at = stripped.code.find(token, at + 1)) {
    const size_t end = at + token.size();
    const bool whole =
        !word || ((at == 0 || !IsIdentifier(stripped.code[at - 1])) &&
                  (end >= stripped.code.size() || !IsIdentifier(stripped.code[end])));
    if (whole) return stripped.line[at];
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& ShimmedHeaders() {
  static const std::vector<std::string> headers = {"algorithm",
                                                   "assert.h",
                                                   "cassert",
                                                   "cfloat",
                                                   "climits",
                                                   "cmath",
                                                   "cstddef",
                                                   "cstdint",
                                                   "cstdio",
                                                   "cstdlib",
                                                   "cstring",
                                                   "cuda.h",
                                                   "device_launch_parameters.h",
                                                   "float.h",
                                                   "inttypes.h",
                                                   "limits",
                                                   "limits.h",
                                                   "math.h",
                                                   "stddef.h",
                                                   "stdint.h",
                                                   "stdio.h",
                                                   "stdlib.h",
                                                   "string.h",
                                                   "type_traits",
                                                   "utility"};
  return headers;
}

std::variant<std::vector<std::string>, Rejected> CheckDeviceText(std::string_view text) {
  for (const std::string_view trigraph : {"?\?=", "?\?/"})
    if (text.find(trigraph) != std::string_view::npos)
      return Rejected{fmt::format("trigraph {} is not allowed", trigraph)};

  auto result = Strip(text);
  if (auto* rejected = std::get_if<Rejected>(&result)) return *rejected;
  const Stripped& stripped = std::get<Stripped>(result);

  std::vector<std::string> includes;
  for (const Directive& directive : Directives(stripped)) {
    if (directive.name == "include") {
      auto name = IncludeName(directive);
      if (auto* rejected = std::get_if<Rejected>(&name)) return *rejected;
      includes.push_back(std::get<std::string>(name));
    } else if (directive.name == "include_next" || directive.name == "import" ||
               directive.name == "embed") {
      return Rejected{fmt::format("line {}: #{} is not allowed", directive.line, directive.name)};
    }
  }
  for (const char* word : {"__has_include", "__has_include_next", "__has_embed"})
    if (const auto line = FindToken(stripped, word))
      return Rejected{fmt::format("line {}: {} is not allowed", *line, word)};
  if (const auto line = FindToken(stripped, "<<<"))
    return Rejected{
        fmt::format("line {}: launches from code (<<<...>>>) are not allowed: name the launch in "
                    "the plan",
                    *line)};
  for (const auto& [at, literal] : stripped.literals)
    for (const std::string_view word : {".incbin", ".include"})
      if (literal.find(word) != std::string::npos)
        return Rejected{fmt::format("line {}: {} is not allowed", stripped.line[at], word)};
  return includes;
}

}  // namespace warpsmith
