#include "worker/host/runtime/fault.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "worker/host/runtime/primitives.h"

namespace warpsmith::host {
namespace {

Control* control = nullptr;
uint32_t running_launch = 0;
const Region* running_regions = nullptr;
uint32_t running_count = 0;

constexpr size_t kSignalStackBytes = 64 * 1024;
// A fault this near the stack pointer, outside every buffer, is the stack's end.
constexpr int64_t kStackReach = 128 * 1024;

[[noreturn]] void Leave() {
  syscall(SYS_exit_group, 71);
  __builtin_unreachable();
}

// The first fault is the one reported; threads that fault after it wait for the end.
Fault* ClaimFault() {
  if (__atomic_exchange_n(&control->fault_claimed, 1, __ATOMIC_ACQ_REL) != 0)
    for (;;) sched_yield();
  Fault& fault = control->fault;
  fault = Fault{};  // the page began as zeros
  unsigned int where[6];
  warpsmith_where(where);
  fault.launch = running_launch;
  for (int i = 0; i < 3; ++i) {
    fault.block[i] = where[i];
    fault.thread[i] = where[3 + i];
  }
  return &fault;
}

void OnSignal(int signal, siginfo_t* info, void* context) {
  Fault& fault = *ClaimFault();
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  fault.address = address;
  fault.write = (machine->gregs[REG_ERR] & 2) != 0;
  if (signal == SIGILL) {
    fault.kind = FaultKind::kIllegal;
  } else if (signal == SIGFPE) {
    fault.kind = FaultKind::kDivision;
  } else if (signal == SIGSEGV && info->si_code == SI_KERNEL) {
    fault.kind = FaultKind::kMisaligned;
  } else {
    fault.kind = FaultKind::kAccess;
    for (uint32_t i = 0; i < running_count; ++i) {
      const Region& region = running_regions[i];
      const auto begin = reinterpret_cast<uintptr_t>(region.reserved);
      if (address < begin || address - begin >= region.reserved_bytes) continue;
      fault.buffer = static_cast<int32_t>(i);
      fault.offset = static_cast<int64_t>(address - reinterpret_cast<uintptr_t>(region.data));
    }
    const int64_t depth = static_cast<int64_t>(address) - machine->gregs[REG_RSP];
    if (fault.buffer < 0 && depth > -kStackReach && depth < kStackReach)
      fault.kind = FaultKind::kStackOverflow;
  }
  Leave();
}

}  // namespace

void SetControl(Control* shared) { control = shared; }
Control* GetControl() { return control; }

void SetRunning(uint32_t launch, const Region* regions, uint32_t count) {
  running_launch = launch;
  running_regions = regions;
  running_count = count;
}

void InstallFaultHandlers() {
  struct sigaction action {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

void GiveSignalStack() {
  stack_t stack{};
  stack.ss_sp =
      mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  stack.ss_size = kSignalStackBytes;
  if (stack.ss_sp == MAP_FAILED) Die(FaultKind::kProtocol, "no memory for a signal stack");
  sigaltstack(&stack, nullptr);
}

void Die(FaultKind kind, const char* text) {
  Fault& fault = *ClaimFault();
  fault.kind = kind;
  snprintf(fault.text, sizeof(fault.text), "%s", text);
  Leave();
}

}  // namespace warpsmith::host

using warpsmith::host::Die;
using warpsmith::host::FaultKind;

void warpsmith_trap(const char* why) { Die(FaultKind::kTrap, why); }

int warpsmith_printf(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  const int wanted = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (wanted <= 0) return wanted;
  const uint32_t bytes = wanted < static_cast<int>(sizeof(line)) ? wanted : sizeof(line) - 1;
  auto* control = warpsmith::host::GetControl();
  const uint32_t limit = warpsmith::host::kOutputBytes;
  // Past the limit nothing is counted any more, so that the count cannot come round.
  if (__atomic_load_n(&control->output_bytes, __ATOMIC_RELAXED) > limit) return wanted;
  const uint32_t at = __atomic_fetch_add(&control->output_bytes, bytes, __ATOMIC_RELAXED);
  if (at < limit) memcpy(control->output + at, line, bytes < limit - at ? bytes : limit - at);
  return wanted;
}
