// Bugs: a CHECK states what must hold here, in every build. When it does not, the process says so
// and ends at once; its supervisor starts another and nothing half-true is written.
#pragma once

#include <string_view>

namespace warpsmith {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view why);

}  // namespace warpsmith

#define CHECK(condition, why)                                          \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::warpsmith::CheckFailed(__FILE__, __LINE__, #condition, (why)); \
  } while (false)
