// How a runner (worker/host/candidate_process) drives a candidate's process. The runner starts the
// executable with a page of shared memory and a SOCK_SEQPACKET socket, sends a Command and waits
// for its Answer. Whatever comes back, on the socket or in the page, is evidence: a kernel can
// write over its whole process.
//
// Plain records only: both sides are of one build.
#pragma once

#include <cstdint>

namespace warpsmith::host {

constexpr int kControlFd = 3;
constexpr int kSocketFd = 4;

constexpr uint32_t kMaxHostBuffers = 96;
constexpr uint32_t kMaxHostLaunches = 16;
constexpr uint32_t kMaxHostArguments = 64;
constexpr uint32_t kMaxHostSets = 64;
constexpr uint32_t kMaxHostThreads = 1024;  // of a block
constexpr uint32_t kMaxHostWorkers = 256;
constexpr uint32_t kMaxHostShared = 99 * 1024;  // dynamic shared memory, bytes
constexpr uint32_t kOutputBytes = 64 * 1024;
constexpr uint64_t kGuardBytes = uint64_t{32} << 30;  // address space before and after each buffer

struct Argument {
  int32_t buffer = -1;  // index, or -1 for a scalar
  uint64_t bits = 0;
};

struct Launch {
  int32_t kernel = 0;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t argument_count = 0;
  Argument arguments[kMaxHostArguments];
};

struct Program {
  uint32_t workers = 1;
  uint32_t buffer_count = 0;
  uint32_t launch_count = 0;
  uint8_t zero[kMaxHostBuffers] = {};
  Launch launches[kMaxHostLaunches];
};

enum class FaultKind : uint32_t {
  kNone,
  kAccess,      // SIGSEGV or SIGBUS: see the fields
  kMisaligned,  // an access that the type's alignment forbids
  kIllegal,     // SIGILL: an array index out of its bounds
  kDivision,    // SIGFPE
  kStackOverflow,
  kDivergence,  // `text` says who waits where
  kTrap,        // `text`: the trap or the assertion
  kProtocol,    // the runtime refused: `text`
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  uint32_t write = 0;
  int32_t buffer = -1;  // the buffer in or beside which the address lies
  int64_t offset = 0;   // from the buffer's first byte
  uint64_t address = 0;
  uint32_t launch = 0;
  uint32_t block[3] = {};
  uint32_t thread[3] = {};
  char text[512] = {};
};

struct Control {
  Program program;
  uint32_t fault_claimed = 0;  // the first fault is the one reported
  Fault fault;
  uint32_t output_bytes = 0;  // wanted; may exceed what `output` holds
  char output[kOutputBytes];
};

enum class CommandKind : uint32_t { kBind, kRun, kNothing };

struct Mapping {
  uint64_t mapping_bytes = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t writable = 0;
};

// With kBind come the descriptors of the buffers that are not empty, in order.
struct Command {
  CommandKind kind = CommandKind::kNothing;
  uint32_t set = 0;
  uint32_t dirty_shared = 0;
  uint32_t reversed = 0;  // threads of a block start from the last to the first
  Mapping mappings[kMaxHostBuffers];
};

struct Answer {
  uint32_t ok = 0;
  char text[252] = {};  // why not
};

}  // namespace warpsmith::host
