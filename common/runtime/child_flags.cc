#include "common/runtime/child_flags.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warpsmith {

Result<ChildFlags> ChildFlags::Read(int argc, const char* const* argv,
                                    std::initializer_list<std::string_view> with_value,
                                    std::initializer_list<std::string_view> switches) {
  const auto among = [](std::initializer_list<std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  ChildFlags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    bool fresh = true;
    if (among(switches, name)) {
      fresh = flags.switches_.emplace(name).second;
    } else if (!among(with_value, name)) {
      return Fail(ErrorCode::kInvalidInput, fmt::format("'{}' is no flag of this program", name));
    } else if (i + 1 >= argc) {
      return Fail(ErrorCode::kInvalidInput, fmt::format("{} needs a value", name));
    } else {
      fresh = flags.values_.emplace(name, argv[++i]).second;
    }
    if (!fresh) return Fail(ErrorCode::kInvalidInput, fmt::format("{} is given twice", name));
  }
  return flags;
}

Result<std::string> ChildFlags::Text(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty())
    return Fail(ErrorCode::kInvalidInput, fmt::format("{} is missing", name));
  return found->second;
}

Result<int> ChildFlags::Whole(std::string_view name) const {
  ASSIGN_OR_RETURN(const std::string text, Text(name));
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} takes a whole number from 0 on, not '{}'", name, text));
  return number;
}

Result<DeviceKind> ChildFlags::Device(std::string_view name) const {
  ASSIGN_OR_RETURN(const std::string text, Text(name));
  const auto kind = ParseWord<DeviceKind>(text);
  if (!kind)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} takes host or cuda, not '{}'", name, text));
  return *kind;
}

Result<UniqueFd> ChildFlags::Descriptor(std::string_view name) const {
  ASSIGN_OR_RETURN(const int fd, Whole(name));
  if (fcntl(fd, F_GETFD) < 0)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: descriptor {} is not open: it is the starting program's end of a "
                            "socket pair",
                            name, fd));
  return UniqueFd(fd);
}

}  // namespace warpsmith
