#include "worker/host/host_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace warpsmith {
namespace {

constexpr std::array<std::string_view, 13> kDirectives = {
    "",     "define", "undef", "if",      "ifdef",  "ifndef", "elif",
    "else", "endif",  "error", "warning", "pragma", "include"};

// Headers of the CUDA device that have nothing to stand for here, with what a CPU lacks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kUnsupportedHeaders = {
    {{"mma.h", "wmma"},
     {"cuda_pipeline", "asynchronous copies"},
     {"cuda_awbarrier", "asynchronous barriers"},
     {"cuda_fp", "fp8, fp6 and fp4 numbers"},
     {"cub/", "CUB"},
     {"thrust/", "Thrust"},
     {"cuda/", "libcu++ (cuda/...)"},
     {"curand", "cuRAND"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kUnsupportedWords = {
    {{"asm", "inline PTX"},
     {"__asm", "inline PTX"},
     {"__asm__", "inline PTX"},
     {"wmma", "wmma"},
     {"nvcuda", "wmma"},
     {"memcpy_async", "asynchronous copies"},
     {"__pipeline_memcpy_async", "asynchronous copies"},
     {"__pipeline_commit", "asynchronous copies"},
     {"this_grid", "grid-wide groups"},
     {"grid_group", "grid-wide groups"},
     {"this_cluster", "clusters"},
     {"cluster_group", "clusters"},
     {"__cluster_dims__", "clusters"},
     {"cudaTextureObject_t", "textures"},
     {"cudaSurfaceObject_t", "surfaces"},
     {"tex1Dfetch", "textures"},
     {"tex2D", "textures"},
     {"texture", "textures"},
     {"cudaLaunchDevice", "device-side launches"},
     {"cudaGetParameterBuffer", "device-side launches"},
     {"new", "memory from the device heap"},
     {"__shfl", "shuffles without _sync"},
     {"__shfl_down", "shuffles without _sync"},
     {"__shfl_up", "shuffles without _sync"},
     {"__shfl_xor", "shuffles without _sync"},
     {"__ballot", "votes without _sync"}}};

Rejected Unsupported(int line, std::string_view what) {
  return Rejected{fmt::format("unsupported on the host device: {} (line {})", what, line)};
}

std::string Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return std::string(text);
}

std::optional<Rejected> CheckInclude(const Directive& directive) {
  const std::string rest = Trim(directive.rest);
  const bool plain = rest.size() > 2 && ((rest.front() == '<' && rest.back() == '>') ||
                                         (rest.front() == '"' && rest.back() == '"'));
  if (!plain)
    return Rejected{fmt::format("line {}: #include needs a plain <name>", directive.line)};
  const std::string name = rest.substr(1, rest.size() - 2);
  const auto& allowed = HostHeaders();
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return std::nullopt;
  if (name.find("..") == std::string::npos)
    for (const auto& [prefix, what] : kUnsupportedHeaders)
      if (name.starts_with(prefix)) return Unsupported(directive.line, what);
  return Rejected{
      fmt::format("line {}: #include of \"{}\" is not allowed; a candidate may include {}",
                  directive.line, name, fmt::join(allowed, ", "))};
}

std::optional<Rejected> CheckDirective(const Directive& directive) {
  if (std::find(kDirectives.begin(), kDirectives.end(), directive.name) == kDirectives.end())
    return Rejected{fmt::format("line {}: #{} is not allowed", directive.line, directive.name)};
  if (directive.name == "include") return CheckInclude(directive);
  // "# 1 "file"" is a line marker, and would let the compiler quote that file.
  if (directive.name.empty() && !Trim(directive.rest).empty())
    return Rejected{fmt::format("line {}: line markers are not allowed", directive.line)};
  const std::string rest = Trim(directive.rest);
  if (directive.name == "pragma" && rest.starts_with("GCC") &&
      rest.find("unroll") == std::string::npos)
    return Rejected{fmt::format("line {}: #pragma GCC is not allowed", directive.line)};
  return std::nullopt;
}

struct Token {
  std::string_view text;
  int line;
};

std::vector<Token> Tokens(const StrippedText& stripped, std::vector<std::string>& qualifiers) {
  const std::string& code = stripped.code;
  std::vector<Token> tokens;
  bool line_start = true;
  for (size_t i = 0; i < code.size();) {
    const char c = code[i];
    if (c == '\n') line_start = true;
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++i;
      continue;
    }
    if (line_start && (c == '#' || code.compare(i, 2, "%:") == 0)) {
      const size_t end = std::min(code.find('\n', i), code.size());
      const std::string_view directive(code.data() + i, end - i);
      const size_t define = directive.find("define");
      const bool marks = std::any_of(
          qualifiers.begin(), qualifiers.end(),
          [&](const std::string& q) { return directive.find(q) != std::string_view::npos; });
      if (define != std::string_view::npos && marks) {
        size_t at = define + 6;
        while (at < directive.size() && std::isspace(static_cast<unsigned char>(directive[at])))
          ++at;
        size_t stop = at;
        while (stop < directive.size() && IsIdentifierCharacter(directive[stop])) ++stop;
        if (stop > at) qualifiers.emplace_back(directive.substr(at, stop - at));
      }
      i = end;
      continue;
    }
    line_start = false;
    size_t end = i + 1;
    if (IsIdentifierCharacter(c))
      while (end < code.size() && IsIdentifierCharacter(code[end])) ++end;
    tokens.push_back({std::string_view(code).substr(i, end - i), stripped.line[i]});
    i = end;
  }
  return tokens;
}

// Walks the scopes in which functions can be defined: files, namespaces, classes.
class FunctionFinder {
 public:
  FunctionFinder(std::vector<Token> tokens, std::vector<std::string> qualifiers)
      : tokens_(std::move(tokens)), qualifiers_(std::move(qualifiers)) {}

  std::optional<std::string> Find() {
    int depth = 0;
    for (const Token& token : tokens_) {
      depth += token.text == "{" ? 1 : token.text == "}" ? -1 : 0;
      if (depth < 0)
        return fmt::format("what follows the brace that closes more than was opened (line {})",
                           token.line);
    }
    if (depth == 0) Walk();
    return found_;
  }

 private:
  enum class Body { kScope, kSkip, kInitializer };

  // From scope to scope without recursion: a hostile text nests them as deep as it is long. A
  // declaration is nothing to remember across a scope: one begins and ends between declarations.
  void Walk() {
    std::vector<Token> declaration;
    int parens = 0;
    while (at_ < tokens_.size() && !found_) {
      const Token token = tokens_[at_++];
      if (token.text == "(") ++parens;
      if (token.text == ")") --parens;
      if (token.text == "}") parens = 0;
      if (token.text == "}" || (token.text == ";" && parens == 0)) {
        declaration.clear();
      } else if (token.text == "{") {
        const Body body = Classify(declaration, parens);
        if (body != Body::kScope) SkipBody();
        if (body != Body::kInitializer) declaration.clear();
      } else {
        declaration.push_back(token);
      }
    }
  }

  void SkipBody() {
    for (int depth = 1; at_ < tokens_.size() && depth > 0; ++at_)
      depth += tokens_[at_].text == "{" ? 1 : tokens_[at_].text == "}" ? -1 : 0;
  }

  bool Has(const std::vector<Token>& declaration, std::string_view word) const {
    return std::any_of(declaration.begin(), declaration.end(),
                       [&](const Token& t) { return t.text == word; });
  }

  Body Classify(const std::vector<Token>& declaration, int parens) {
    if (parens != 0) return Body::kInitializer;
    if (Has(declaration, "namespace")) return Body::kScope;
    if (declaration.size() <= 3 && Has(declaration, "extern")) return Body::kScope;
    const bool marked = std::any_of(qualifiers_.begin(), qualifiers_.end(),
                                    [&](const std::string& q) { return Has(declaration, q); });
    const Token* name = FunctionName(declaration);
    if (name == nullptr) {
      const bool type =
          Has(declaration, "struct") || Has(declaration, "class") || Has(declaration, "union");
      return type && !Has(declaration, "enum") && !Has(declaration, "=") ? Body::kScope
                                                                         : Body::kInitializer;
    }
    if (!marked && !Has(declaration, "constexpr") && !Has(declaration, "=") &&
        !Has(declaration, "enum"))
      found_ = fmt::format("{} (line {})", name->text, name->line);
    return Body::kSkip;
  }

  // The identifier before the first bracket that is not an attribute's.
  static const Token* FunctionName(const std::vector<Token>& declaration) {
    constexpr std::array<std::string_view, 9> kNotNames = {
        "__launch_bounds__", "__align__",   "alignas", "__attribute__", "decltype",
        "noexcept",          "enable_if_t", "sizeof",  "__maxnreg__"};
    int angles = 0, nested = 0;
    for (size_t i = 0; i < declaration.size(); ++i) {
      const std::string_view text = declaration[i].text;
      if (nested == 0 && text == "<") ++angles;
      if (nested == 0 && text == ">" && angles > 0) --angles;
      if (text == ")") --nested;
      if (text != "(") continue;
      ++nested;
      if (i == 0 || nested > 1 || angles > 0) continue;
      const std::string_view before = declaration[i - 1].text;
      const bool is_name = std::find(kNotNames.begin(), kNotNames.end(), before) == kNotNames.end();
      if (is_name && IsIdentifierCharacter(before.front())) return &declaration[i - 1];
      if (!IsIdentifierCharacter(before.front()) && before != ">")
        return &declaration[i - 1];  // operator+
    }
    return nullptr;
  }

  std::vector<Token> tokens_;
  std::vector<std::string> qualifiers_;
  size_t at_ = 0;
  std::optional<std::string> found_;
};

}  // namespace

const std::vector<std::string>& HostHeaders() {
  static const std::vector<std::string> headers = [] {
    std::vector<std::string> names = {
#define WARPSMITH_HEADER(name) name,
#include "worker/host/toolkit_headers.inc"
#undef WARPSMITH_HEADER
    };
    names.insert(names.end(), StandardHeaders().begin(), StandardHeaders().end());
    return names;
  }();
  return headers;
}

std::optional<std::string> FindHostFunction(const StrippedText& stripped) {
  std::vector<std::string> qualifiers = {"__device__", "__global__"};
  std::vector<Token> tokens = Tokens(stripped, qualifiers);
  return FunctionFinder(std::move(tokens), std::move(qualifiers)).Find();
}

std::optional<Rejected> CheckHostText(std::string_view text) {
  const auto result = StripText(text);
  if (const auto* rejected = std::get_if<Rejected>(&result)) return *rejected;
  const auto& stripped = std::get<StrippedText>(result);
  for (const Directive& directive : Directives(stripped))
    if (auto rejected = CheckDirective(directive)) return rejected;
  for (const char* word : {"__has_include", "__has_include_next", "__has_embed"})
    if (const auto line = FindToken(stripped, word))
      return Rejected{fmt::format("line {}: {} is not allowed", *line, word)};
  if (const auto line = FindToken(stripped, "<<<"))
    return Rejected{fmt::format(
        "line {}: launches from code (<<<...>>>) are not allowed: name the launch in the plan",
        *line)};
  for (const auto& [at, literal] : stripped.literals) {
    const std::string_view before = std::string_view(stripped.code).substr(0, at);
    const size_t pragma = before.rfind("_Pragma");
    if (Trim(literal).starts_with("GCC") && pragma != std::string_view::npos && at - pragma < 16 &&
        literal.find("unroll") == std::string::npos)
      return Rejected{
          fmt::format("line {}: _Pragma(\"GCC ...\") is not allowed", stripped.line[at])};
  }
  for (const auto& [word, what] : kUnsupportedWords)
    if (const auto line = FindToken(stripped, word)) return Unsupported(*line, what);
  if (const auto name = FindHostFunction(stripped))
    return Rejected{
        fmt::format("host code is not allowed: {}: a candidate is device code only; mark helper "
                    "functions __device__",
                    *name)};
  return std::nullopt;
}

}  // namespace warpsmith
