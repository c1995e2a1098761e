// The main program of every candidate's process: maps the buffers it is sent and runs the program
// in the shared page when told. A pool of workers shares the blocks of a launch; the main thread is
// one.
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "worker/host/runtime/fault.h"
#include "worker/host/runtime/primitives.h"
#include "worker/host/runtime/protocol.h"

// Thread-local variables between these marks are the candidate's __shared__ ones.
extern "C" __thread char warpsmith_shared_begin[];  // __thread: no wrapper that could initialise
extern "C" __thread char warpsmith_shared_end[];

namespace warpsmith::host {
namespace {

constexpr size_t kWorkerStackBytes = 1536 * 1024;
constexpr uint32_t kDirt = 0x7fbadbad;  // not a number; absurd as a whole one

struct Set {
  bool bound = false;
  Region regions[kMaxHostBuffers];
  uint64_t sizes[kMaxHostBuffers] = {};
  bool writable[kMaxHostBuffers] = {};
};

// The launch that all workers are at.
struct Work {
  const warpsmith_kernel* kernel = nullptr;
  const Launch* launch = nullptr;
  void* const* arguments = nullptr;
  bool reversed = false;
  bool dirty_shared = false;
  uint64_t blocks = 0;
  uint64_t chunk = 1;
  uint64_t next = 0;        // atomic
  uint32_t unfinished = 0;  // atomic: workers beside the main thread
};

Program program;
Set sets[kMaxHostSets];
Work work;
uint32_t epoch = 0;  // atomic: grows by one for each launch

void FutexWait(uint32_t* word, uint32_t while_value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, nullptr, nullptr, 0);
}
void FutexWakeAll(uint32_t* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void DirtyShared() {
  for (char* p = warpsmith_shared_begin; p + sizeof(kDirt) <= warpsmith_shared_end;
       p += sizeof(kDirt))
    memcpy(p, &kDirt, sizeof(kDirt));
}

void WorkOnLaunch() {
  if (work.dirty_shared) DirtyShared();
  const Launch& launch = *work.launch;
  warpsmith_set_launch(launch.grid, launch.block);
  for (;;) {
    const uint64_t begin = __atomic_fetch_add(&work.next, work.chunk, __ATOMIC_RELAXED);
    if (begin >= work.blocks) return;
    const uint64_t end = begin + work.chunk < work.blocks ? begin + work.chunk : work.blocks;
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t rest = i / launch.grid[0];
      warpsmith_set_block(static_cast<uint32_t>(i % launch.grid[0]),
                          static_cast<uint32_t>(rest % launch.grid[1]),
                          static_cast<uint32_t>(rest / launch.grid[1]));
      if (warpsmith_run_with_fibers != nullptr)
        warpsmith_run_with_fibers(work.kernel, work.arguments, launch.block, work.reversed);
      else
        work.kernel->loop(work.arguments, work.reversed);
    }
  }
}

void* WorkerMain(void*) {
  GiveSignalStack();
  uint32_t seen = 0;
  for (;;) {
    uint32_t now;
    while ((now = __atomic_load_n(&epoch, __ATOMIC_ACQUIRE)) == seen) FutexWait(&epoch, seen);
    seen = now;
    WorkOnLaunch();
    if (__atomic_sub_fetch(&work.unfinished, 1, __ATOMIC_ACQ_REL) == 0)
      FutexWakeAll(&work.unfinished);
  }
}

void StartWorkers() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
  for (uint32_t i = 1; i < program.workers; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, WorkerMain, nullptr) != 0)
      Die(FaultKind::kProtocol, "a worker thread does not start");
  }
}

void RunLaunch(uint32_t index, const Set& set, const Command& command) {
  const Launch& launch = program.launches[index];
  uint64_t values[kMaxHostArguments];
  void* arguments[kMaxHostArguments];
  for (uint32_t i = 0; i < launch.argument_count; ++i) {
    const Argument& argument = launch.arguments[i];
    values[i] = argument.buffer < 0 ? argument.bits
                                    : reinterpret_cast<uint64_t>(set.regions[argument.buffer].data);
    arguments[i] = &values[i];
  }
  SetRunning(index, set.regions, program.buffer_count);
  work.kernel = &warpsmith_kernels[launch.kernel];
  work.launch = &launch;
  work.arguments = arguments;
  work.reversed = command.reversed != 0;
  work.dirty_shared = command.dirty_shared != 0;
  work.blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  work.chunk = work.blocks / (uint64_t{program.workers} * 8);
  if (work.chunk == 0) work.chunk = 1;
  work.next = 0;
  const bool alone = program.workers == 1 || work.blocks == 1;
  if (!alone) {
    __atomic_store_n(&work.unfinished, program.workers - 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&epoch, 1, __ATOMIC_ACQ_REL);
    FutexWakeAll(&epoch);
  }
  WorkOnLaunch();
  uint32_t left;
  while (!alone && (left = __atomic_load_n(&work.unfinished, __ATOMIC_ACQUIRE)) != 0)
    FutexWait(&work.unfinished, left);
}

const char* Run(const Command& command) {
  const Set& set = sets[command.set];
  if (!set.bound) return "the set of buffers is not bound";
  for (uint32_t i = 0; i < program.buffer_count; ++i)
    if (program.zero[i] != 0 && set.sizes[i] > 0)
      memset(const_cast<char*>(set.regions[i].data), 0, set.sizes[i]);
  for (uint32_t i = 0; i < program.launch_count; ++i) RunLaunch(i, set, command);
  return nullptr;
}

void Unbind(Set& set) {
  for (Region& region : set.regions) {
    if (region.reserved != nullptr)
      munmap(const_cast<char*>(region.reserved), region.reserved_bytes);
    region = Region{};
  }
  set.bound = false;
}

const char* Bind(const Command& command, const int* fds, uint32_t fd_count) {
  Set& set = sets[command.set];
  Unbind(set);
  uint32_t used = 0;
  for (uint32_t i = 0; i < program.buffer_count; ++i) {
    const Mapping& mapping = command.mappings[i];
    const uint64_t bytes = mapping.size == 0 ? 0 : mapping.mapping_bytes;
    void* reserved = mmap(nullptr, bytes + 2 * kGuardBytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return "no address space for a buffer";
    char* begin = static_cast<char*>(reserved) + kGuardBytes;
    set.regions[i] = Region{static_cast<char*>(reserved), bytes + 2 * kGuardBytes,
                            begin + (bytes > 0 ? mapping.offset : 0)};
    set.sizes[i] = mapping.size;
    if (bytes == 0) continue;
    if (used == fd_count) return "a buffer came without its descriptor";
    const int protection = mapping.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(begin, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fds[used++], 0) ==
        MAP_FAILED)
      return "a buffer does not map";
  }
  set.bound = true;
  return nullptr;
}

// False: the runner is gone.
bool Receive(Command* command, int* fds, uint32_t* fd_count) {
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int) * kMaxHostBuffers)];
  iovec part{command, sizeof(*command)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  if (recvmsg(kSocketFd, &message, MSG_CMSG_CLOEXEC) != sizeof(*command)) return false;
  *fd_count = 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    *fd_count = static_cast<uint32_t>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(fds, CMSG_DATA(header), *fd_count * sizeof(int));
  }
  return true;
}

const char* Obey(const Command& command, const int* fds, uint32_t fd_count) {
  if (command.set >= kMaxHostSets) return "there are not that many sets";
  switch (command.kind) {
    case CommandKind::kBind: return Bind(command, fds, fd_count);
    case CommandKind::kRun: return Run(command);
    case CommandKind::kNothing: return nullptr;
  }
  return "an unknown command";
}

void Send(const char* problem) {
  Answer answer;
  answer.ok = problem == nullptr;
  if (problem != nullptr) snprintf(answer.text, sizeof(answer.text), "%s", problem);
  if (write(kSocketFd, &answer, sizeof(answer)) != sizeof(answer)) _exit(0);
}

const char* CheckProgram() {
  if (program.workers == 0 || program.workers > kMaxHostWorkers) return "a bad number of workers";
  if (program.buffer_count > kMaxHostBuffers || program.launch_count > kMaxHostLaunches)
    return "a bad program";
  for (uint32_t i = 0; i < program.launch_count; ++i)
    if (static_cast<uint32_t>(program.launches[i].kernel) >= warpsmith_kernel_count)
      return "no such kernel";
  return nullptr;
}

}  // namespace

int Main() {
  void* page = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, kControlFd, 0);
  if (page == MAP_FAILED) return 1;
  close(kControlFd);
  SetControl(static_cast<Control*>(page));
  memcpy(&program, page, sizeof(program));
  const char* problem = CheckProgram();
  if (problem == nullptr) {
    InstallFaultHandlers();
    GiveSignalStack();
    StartWorkers();
  }
  Send(problem);
  static Command command;
  static int fds[kMaxHostBuffers];
  uint32_t fd_count = 0;
  while (Receive(&command, fds, &fd_count)) {
    problem = Obey(command, fds, fd_count);
    for (uint32_t i = 0; i < fd_count; ++i) close(fds[i]);
    Send(problem);
  }
  return 0;
}

}  // namespace warpsmith::host

int main() { return warpsmith::host::Main(); }
