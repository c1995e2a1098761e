// The `warpsmith` command: see commands.h.
#include <fmt/format.h>

#include <cstdio>

#include "common/runtime/log.h"
#include "tools/warpsmith/arguments.h"

int main(int argc, char** argv) {
  using namespace warpsmith;
  InitLog("warpsmith");
  const auto parsed = ParseArguments(argc, argv);
  if (const int* status = std::get_if<int>(&parsed)) return *status;
  const auto result = std::get<std::function<Result<int>()>>(parsed)();
  if (result) return *result;
  fmt::print(stderr, "warpsmith: {}\n", result.error().message);
  return ExitStatus(result.error().code);
}
