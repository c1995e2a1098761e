#include "worker/shell/compiled.h"

#include <algorithm>
#include <set>

namespace warpsmith {
namespace {

constexpr size_t kMaxBinaryBytes = 64 << 20;
constexpr size_t kMaxLets = 256;
constexpr size_t kMaxTemps = 64;
constexpr size_t kMaxDimensions = 16;
constexpr size_t kMaxName = 4096;

bool Short(const std::string& text) { return text.size() <= kMaxName; }
bool Short(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(), [](const std::string& t) { return Short(t); });
}

std::string CheckPlan(const Plan& plan) {
  if (plan.launches.empty() || plan.launches.size() > kMaxLaunches) return "number of launches";
  if (plan.let.size() > kMaxLets || plan.temps.size() > kMaxTemps || plan.zero.size() > kMaxTemps) {
    return "size of the plan";
  }
  for (const LaunchSpec& launch : plan.launches) {
    bool sizes = launch.grid.size() <= 3 && launch.block.size() <= 3 &&
                 launch.cluster.size() <= 3 && launch.args.size() <= kMaxArguments;
    if (!sizes) return "sizes of a launch";
    bool texts = Short(launch.kernel) && Short(launch.grid) && Short(launch.block) &&
                 Short(launch.shared) && Short(launch.cluster) && Short(launch.args);
    if (!texts) return "length of a launch's expressions";
  }
  for (const TempSpec& temp : plan.temps) {
    if (!Short(temp.name) || !Short(temp.shape) || temp.shape.size() > kMaxDimensions) {
      return "size of a temp";
    }
  }
  for (const auto& [name, expression] : plan.let) {
    if (!Short(name) || !Short(expression)) return "length of a let";
  }
  return Short(plan.zero) ? "" : "length of a name under zero";
}

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
  if (request.device_kind == DeviceKind::kCuda && compiled.architecture != request.architecture) {
    return "architecture";
  }
  if (!Short(compiled.architecture)) return "architecture";
  if (compiled.binary.size() > kMaxBinaryBytes) return "size of the binary";
  if (!compiled.binary.starts_with("\x7f" "ELF")) return "binary that is no ELF file";
  std::string problem = CheckPlan(compiled.plan);
  return problem.empty() ? CheckKernels(compiled) : problem;
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
             std::holds_alternative<ResourceError>(outcome) || IsInfrastructure(outcome);
  return may ? "" : std::string("an outcome that no compiler can give: ") + OutcomeName(outcome);
}

std::string CutLog(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t cut = text.size() - limit;
  text.resize(limit);
  return text + "\n... " + std::to_string(cut) + " bytes cut\n";
}

}  // namespace warpsmith
