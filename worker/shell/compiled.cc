#include "worker/shell/compiled.h"

#include <set>

#include "common/model/outcome.h"
#include "common/suite/plan_file.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxBinaryBytes = 64 << 20;
constexpr size_t kMaxName = 4096;

bool Short(const std::string& text) { return text.size() <= kMaxName; }

std::string CheckKernels(const CompiledCandidate& compiled) {
  std::set<std::string> named;
  for (const LaunchSpec& launch : compiled.plan.launches) named.insert(launch.kernel);
  std::set<std::string> known;
  for (const KernelInfo& kernel : compiled.kernels) {
    if (!Short(kernel.name) || !Short(kernel.symbol) || kernel.symbol.empty()) {
      return "name of a kernel";
    }
    if (kernel.parameters.size() > kMaxArguments) return "parameters of a kernel";
    if (!known.insert(kernel.name).second) return "a kernel twice";
  }
  return named == known ? "" : "kernels that are not the plan's";
}

std::string CheckCompiled(const CompileRequest& request, const CompiledCandidate& compiled) {
  if (compiled.device_kind != request.device_kind) return "kind of device";
  if (compiled.architecture != request.architecture) return "architecture";
  if (compiled.binary.size() > kMaxBinaryBytes) return "size of the binary";
  if (!compiled.binary.starts_with("\x7f"
                                   "ELF"))
    return "binary that is no ELF file";
  if (Status plan = CheckPlan(compiled.plan); !plan) return "plan: " + plan.error().message;
  return CheckKernels(compiled);
}

}  // namespace

std::string RefuseText(std::string_view text) {
  if (text.empty()) return "the candidate is empty";
  if (text.size() > kMaxCandidateBytes) {
    return "the candidate has " + std::to_string(text.size()) + " bytes, more than " +
           std::to_string(kMaxCandidateBytes);
  }
  size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    return "a NUL byte at offset " + std::to_string(nul) + ": candidates are plain text";
  }
  return "";
}

std::string CheckReply(const CompileRequest& request, const CompileReply& reply) {
  if (reply.id != request.id) return "answer to another request";
  if (const auto* compiled = std::get_if<CompiledCandidate>(&reply.result)) {
    return CheckCompiled(request, *compiled);
  }
  const auto& outcome = std::get<Outcome>(reply.result);
  bool may = std::holds_alternative<Rejected>(outcome) ||
             std::holds_alternative<CompileError>(outcome) ||
             std::holds_alternative<ResourceError>(outcome) || IsInfrastructure(outcome) ||
             outcome == Outcome(Timeout{Stage::kCompile});
  return may ? "" : std::string("an outcome that no compiler can give: ") + OutcomeName(outcome);
}

std::string CutLog(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t cut = text.size() - limit;
  text.resize(limit);
  return text + "\n... " + std::to_string(cut) + " bytes cut\n";
}

}  // namespace warpsmith
