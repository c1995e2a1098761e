// warpsmith-policy --fd F: writes candidates for the supervisor that started it.
#include <utility>

#include "common/runtime/child_flags.h"
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

Result<UniqueFd> ParentOf(int argc, char** argv) {
  ASSIGN_OR_RETURN(const ChildFlags flags, ChildFlags::Read(argc, argv, {"--fd"}));
  return flags.Descriptor("--fd");
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  warpsmith::InitLog("policy");
  auto fd = warpsmith::ParentOf(argc, argv);
  if (!fd) {
    warpsmith::LogError("usage", {{"is", "warpsmith-policy --fd F"}, {"why", fd.error().message}});
    return warpsmith::ExitStatus(fd.error().code);
  }
  warpsmith::FrameSocket parent(std::move(*fd));
  const warpsmith::Status served = warpsmith::PolicyServer(warpsmith::Make).Serve(parent);
  if (served) return 0;
  warpsmith::LogError("stopped", {{"why", served.error().message}});
  return warpsmith::ExitStatus(served.error().code);
}
