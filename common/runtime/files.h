// Files that are whole or not there: read at once, written to a temporary name, synced and renamed,
// with the folder synced too. A full disk is kExhausted. Thread-safe where the paths differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/unique_fd.h"

namespace warpsmith {

// kNotFound; kExhausted beyond `max_bytes`; else kInternal.
Result<std::string> ReadFile(const std::filesystem::path& path, uint64_t max_bytes = 1ull << 30);

// After it returns, `path` holds `bytes` through a loss of power; when it fails, `path` is as
// before. Makes missing folders.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

// For a file that something else wrote at `temporary`, in the same folder: syncs it, renames it to
// `path`, syncs the folder.
Status CommitFile(const std::filesystem::path& temporary, const std::filesystem::path& path);

// Writes the text to the standard output and waits until it is taken, so that a full disk or a
// closed descriptor is not mistaken for success. kExhausted: no space; else kInternal. Also tells
// of what was lost of earlier output.
Status WriteStdout(std::string_view text);

Status MakeDirectories(const std::filesystem::path& path);

// A folder that one process may use at a time; the lock goes with the descriptor, and so with the
// process. kExhausted: another has it, and the message names it by `user`.
Result<UniqueFd> LockDirectory(const std::filesystem::path& directory, std::string_view user);

// A folder that goes, with all in it, when this object does.
class TempDirectory {
 public:
  // Under TMPDIR, or /tmp; the name starts with `prefix`.
  static Result<TempDirectory> Make(std::string_view prefix);
  TempDirectory() = default;
  TempDirectory(TempDirectory&& other) noexcept;
  TempDirectory& operator=(TempDirectory&& other) noexcept;
  ~TempDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace warpsmith
