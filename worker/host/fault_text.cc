#include "worker/host/fault_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <csignal>

namespace warpsmith {
namespace {

using host::Fault;
using host::FaultKind;

constexpr uint64_t kNullPageBytes = 64 * 1024;  // what a null pointer with a small index reaches

// "argument 0 (x)", or "buffer x" where the launch does not pass it.
std::string BufferText(const Fault& fault, const ResolvedPlan& plan) {
  const auto& name = plan.buffers[static_cast<size_t>(fault.buffer)].name;
  if (fault.launch < plan.launches.size()) {
    const auto& arguments = plan.launches[fault.launch].arguments;
    const auto at =
        std::find_if(arguments.begin(), arguments.end(),
                     [&](const ResolvedArgument& a) { return a.buffer == fault.buffer; });
    if (at != arguments.end()) return fmt::format("argument {} ({})", at - arguments.begin(), name);
  }
  return "buffer " + name;
}

std::string AccessText(const Fault& fault, const ResolvedPlan& plan) {
  const char* verb = fault.write != 0 ? "write" : "read";
  if (fault.buffer < 0 || static_cast<size_t>(fault.buffer) >= plan.buffers.size()) {
    if (fault.address < kNullPageBytes)
      return fmt::format("{} through a null pointer: address {:#x}", verb, fault.address);
    return fmt::format("{} of unmapped memory: address {:#x}", verb, fault.address);
  }
  const BufferSpec& buffer = plan.buffers[static_cast<size_t>(fault.buffer)];
  const auto bytes = static_cast<int64_t>(BytesOf(buffer));
  const std::string which = BufferText(fault, plan);
  if (fault.offset < 0)
    return fmt::format("{} before the start of a buffer: {}, byte offset {}", verb, which,
                       fault.offset);
  if (fault.offset >= bytes)
    return fmt::format("{} past the end of a buffer: {}, byte offset {} of {}", verb, which,
                       fault.offset, bytes);
  return fmt::format("{} to a read-only buffer: {}, byte offset {}", verb, which, fault.offset);
}

// The process's own text, fit for a log.
std::string OwnText(const Fault& fault) {
  std::string text = fault.text;
  for (char& c : text)
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  return text;
}

std::string FaultText(const Fault& fault, const ResolvedPlan& plan) {
  switch (fault.kind) {
    case FaultKind::kAccess: return AccessText(fault, plan);
    case FaultKind::kMisaligned: return "misaligned access, or an address that cannot be";
    case FaultKind::kIllegal: return "an array index is out of its bounds";
    case FaultKind::kDivision: return "division of a whole number by zero";
    case FaultKind::kStackOverflow: return "stack overflow";
    case FaultKind::kDivergence: return "divergent barrier: " + OwnText(fault);
    case FaultKind::kTrap: return "trap: " + OwnText(fault);
    case FaultKind::kProtocol: return "runtime: " + OwnText(fault);
    case FaultKind::kNone: break;
  }
  return "a fault of an unknown kind";
}

std::string PlaceText(const Fault& fault, const ResolvedPlan& plan,
                      const std::vector<KernelInfo>& kernels) {
  std::string place =
      fmt::format(", block ({},{},{})", fault.block[0], fault.block[1], fault.block[2]);
  if (fault.kind != FaultKind::kDivergence)
    place += fmt::format(" thread ({},{},{})", fault.thread[0], fault.thread[1], fault.thread[2]);
  if (plan.launches.size() > 1 && fault.launch < plan.launches.size()) {
    const auto kernel = static_cast<size_t>(plan.launches[fault.launch].kernel);
    place += fmt::format(", launch {} ({})", fault.launch + 1,
                         kernel < kernels.size() ? kernels[kernel].name : "?");
  }
  return place;
}

}  // namespace

Outcome DescribeDeath(const CandidateDeath& death, const ResolvedPlan& plan,
                      const std::vector<KernelInfo>& kernels) {
  if (death.timed_out || death.signal == SIGXCPU) return Timeout{Stage::kVerify};
  if (death.fault.kind != FaultKind::kNone)
    return DeviceFault{FaultText(death.fault, plan) + PlaceText(death.fault, plan, kernels)};
  if (death.signal == SIGSYS) return DeviceFault{"a system call that device code may not make"};
  return DeviceFault{
      fmt::format("the candidate's process ended without a report (signal {})", death.signal)};
}

}  // namespace warpsmith
