#include "worker/cuda/candidate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "worker/device/source_text.h"

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
  const auto& standard = StandardHeaders();
  return std::find(standard.begin(), standard.end(), name) != standard.end();
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

}  // namespace

std::variant<std::vector<std::string>, Rejected> CheckDeviceText(std::string_view text) {
  auto result = StripText(text);
  if (auto* rejected = std::get_if<Rejected>(&result)) return *rejected;
  const StrippedText& stripped = std::get<StrippedText>(result);

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
