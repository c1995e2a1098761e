// What a process that handles hostile text may still do: compile. Applied by the process to itself,
// before it reads the first request; it cannot be undone, and children inherit it.
//
//   no_new_privs, no capabilities · limits of memory, CPU time, file size, open files
//   files: Landlock (Linux 5.13), else user and mount namespaces
//   system calls: a seccomp filter without network, ptrace, mounts, keys, signals to others …
//
// What could not be applied is in the report: a machine without Landlock and without namespaces
// still works, and says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct SandboxOptions {
  std::vector<std::filesystem::path> readable;  // files or folders with all in them; executable
  std::vector<std::filesystem::path> writable;  // folders: read and write, nothing executed
  uint64_t memory_bytes = 4ull << 30;           // of address space, and of data
  std::chrono::seconds cpu{600};                // of each process
  uint64_t file_bytes = 256ull << 20;           // of each file
  uint64_t processes = 4096;                    // of the user; the superuser is not held to it
  uint64_t open_files = 256;
};

enum class FileIsolation { kLandlock, kNamespaces, kNone };
const char* ToString(FileIsolation isolation);

struct SandboxReport {
  FileIsolation files = FileIsolation::kNone;
  int landlock_version = 0;
  bool syscall_filter = false;
  std::vector<std::string> missing;  // what could not be applied, and why; empty: everything was

  // One line for people: "files=landlock(7) syscalls=filtered".
  std::string Describe() const;
};

// What a compiler needs of this machine: the system's programs and libraries, and these folders.
std::vector<std::filesystem::path> SystemFolders();

// Single-threaded callers only. An error only where a right that was held could not be given up; a
// missing kernel feature is in the report.
Result<SandboxReport> EnterSandbox(const SandboxOptions& options);

// What EnterSandbox would find, told by a child process that tries it. For `warpsmith doctor`.
Result<SandboxReport> ProbeSandbox();

// The parts, for tests. Each tells what stood in its way, or nothing.
std::string ApplyLandlock(const SandboxOptions& options, int* version);
std::string ApplyNamespaces(const SandboxOptions& options);
std::string ApplySyscallFilter();

}  // namespace warpsmith
