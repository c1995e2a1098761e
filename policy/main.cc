// warpsmith-policy --fd F: writes candidates for the supervisor that started it.
#include <cstdlib>
#include <string_view>

#include "common/runtime/log.h"
#include "policy/grammar/families.h"
#include "policy/grammar/random_policy.h"
#include "policy/shell/policy_server.h"
#include "policy/torch/grammar_policy.h"

namespace warpsmith {
namespace {

std::unique_ptr<Policy> Make(const std::string& kind) {
  if (kind == "grammar") return std::make_unique<GrammarPolicy>();
  if (kind == "random") return std::make_unique<RandomPolicy>(Families());
  return nullptr;
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::InitLog("policy");
  int fd = -1;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--fd") fd = std::atoi(argv[i + 1]);
  if (fd < 0) {
    warpsmith::LogError("usage", {{"is", "warpsmith-policy --fd F"}});
    return 2;
  }
  warpsmith::FrameSocket parent((warpsmith::UniqueFd(fd)));
  const warpsmith::Status served = warpsmith::PolicyServer(warpsmith::Make).Serve(parent);
  if (served) return 0;
  warpsmith::LogError("stopped", {{"why", served.error().message}});
  return warpsmith::ExitStatus(served.error().code);
}
