#include "common/suite/reference_text.h"

#include <fmt/format.h>

#include "common/suite/expression.h"

namespace warpsmith {

Result<std::vector<std::string>> ReferenceParameters(std::string_view text) {
  constexpr std::string_view kHead = "def reference(";
  const size_t head = text.find(kHead);
  if (head == std::string_view::npos)
    return Fail(ErrorCode::kInvalidInput,
                "no `def reference(`; write def reference(x: Tensor) -> Tensor: and its body");
  if (text.find(kHead, head + 1) != std::string_view::npos)
    return Fail(ErrorCode::kInvalidInput, "`def reference(` stands here twice; keep one");
  const size_t begin = head + kHead.size();
  size_t end = begin;
  for (int depth = 1; end < text.size(); ++end) {
    if (text[end] == '(' || text[end] == '[') ++depth;
    if ((text[end] == ')' || text[end] == ']') && --depth == 0) break;
  }
  if (end >= text.size())
    return Fail(ErrorCode::kInvalidInput,
                "the parameters of `def reference(` never end; write `)`");

  std::vector<std::string> names;
  const auto inside = text.substr(begin, end - begin);
  if (inside.find_first_not_of(" \t\r\n") == std::string_view::npos) return names;
  ASSIGN_OR_RETURN(const auto parts, SplitList(inside));
  for (const auto& part : parts) {
    auto name = part.substr(0, part.find_first_of(":= \t\n"));
    if (!IsIdentifier(name))
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("`{}` is no parameter; write a name and its type, as x: Tensor", part));
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace warpsmith
