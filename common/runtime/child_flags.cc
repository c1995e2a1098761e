#include "common/runtime/child_flags.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/base/parse.h"

namespace warpsmith {

Result<ChildFlags> ChildFlags::Read(int argc, const char* const* argv,
                                    std::initializer_list<std::string_view> with_value,
                                    std::initializer_list<std::string_view> switches) {
  CLI::App app;
  app.allow_extras();   // and refused below: CLI11 would name them in reverse
  app.set_help_flag();  // none: it talks to a program
  for (const std::string_view name : with_value)
    app.add_option(std::string(name))->type_name("value");
  for (const std::string_view name : switches) app.add_flag(std::string(name));
  for (CLI::Option* option : app.get_options())
    option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return Fail(ErrorCode::kInvalidInput, e.what());
  }
  if (const auto extra = app.remaining(); !extra.empty())
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is no flag of this program", extra.front()));
  ChildFlags flags;
  for (const CLI::Option* option : app.get_options())
    if (!option->empty()) flags.values_[option->get_name()] = option->results().back();
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
  const auto number = ParseWhole<int>(text);
  if (!number || *number < 0)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} takes a whole number from 0 on, not '{}'", name, text));
  return *number;
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
