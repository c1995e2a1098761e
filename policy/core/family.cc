#include "policy/core/family.h"

#include <fmt/format.h>

#include "common/base/check.h"

namespace warpsmith {

Result<const Family*> FindFamily(std::span<const Family* const> families, const Task& task) {
  std::string reasons;
  for (const Family* family : families) {
    const Status matches = family->Matches(task);
    if (matches) return family;
    reasons += fmt::format("; {}: {}", family->name(), matches.error().message);
  }
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("no family of the grammar can write {}: use another policy for it{}",
                          task.id.value(), reasons));
}

std::string DescribeChoices(const Family& family, std::span<const int32_t> choices) {
  const auto& slots = family.slots();
  CHECK(choices.size() == slots.size(), "one choice a slot");
  std::string text;
  for (size_t i = 0; i < slots.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", slots[i].name,
                        slots[i].choices.at(static_cast<size_t>(choices[i])));
  return text;
}

}  // namespace warpsmith
