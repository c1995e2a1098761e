// The `warpsmith` command: see commands.h.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "common/runtime/files.h"
#include "common/runtime/log.h"
#include "tools/warpsmith/arguments.h"

int main(int argc, char** argv) {
  using namespace warpsmith;
  // What a command has to say it prints itself; the servers that `up` starts log into files.
  if (argc < 2 || std::strcmp(argv[1], "up") != 0) ::setenv("WARPSMITH_LOG", "warn", 0);
  InitLog("warpsmith");
  const auto parsed = ParseArguments(argc, argv);
  const int* answered = std::get_if<int>(&parsed);
  Result<int> result = answered ? *answered : std::get<std::function<Result<int>()>>(parsed)();
  if (const Status written = WriteStdout(""); result && !written)
    result = tl::unexpected(written.error());
  if (result) return *result;
  fmt::print(stderr, "warpsmith: {}\n", result.error().message);
  return ExitStatus(result.error().code);
}
