// Reads what a cubin (an ELF file for a GPU) says, without a GPU. The file comes from a compiler
// that read hostile text, so every offset is checked. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace warpsmith {

class Cubin {
 public:
  // Keeps a view of the bytes. kCorrupt when they are no 64-bit little-endian ELF file for a GPU.
  static Result<Cubin> Parse(std::string_view bytes);

  // The initial bytes of a variable, by its symbol; zeros where the file holds none for it.
  std::optional<std::string> Variable(std::string_view symbol) const;
  // Bytes of writable global data that a module takes when loaded, initialised or not.
  uint64_t global_bytes() const { return global_bytes_; }
  // The largest block that __launch_bounds__ or the like declares for the kernel.
  std::optional<int> DeclaredMaxThreads(std::string_view kernel_symbol) const;

 private:
  struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t link = 0;
    uint64_t entry_size = 0;
  };

  std::optional<Section> ReadSection(uint64_t index) const;
  std::optional<std::string_view> Bytes(const Section& section) const;
  std::string_view StringAt(std::string_view table, uint64_t offset) const;

  std::string_view bytes_;
  uint64_t table_offset_ = 0;
  uint64_t count_ = 0;
  std::string_view names_;
  uint64_t global_bytes_ = 0;
};

}  // namespace warpsmith
