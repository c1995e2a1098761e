#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace warpsmith {

void CheckFailed(const char* file, int line, const char* condition, std::string_view why) {
  std::fprintf(stderr, "%s:%d: CHECK(%s) failed: %.*s\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace warpsmith
