// Just enough of ELF to see what g++ made of a candidate before it is linked, and to give dynamic
// shared memory a place. The bytes are hostile text's product: every offset is checked. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct ObjectSection {
  std::string name;
  uint32_t type = 0;   // SHT_*
  uint64_t flags = 0;  // SHF_*
  uint64_t size = 0;
  std::string_view data;  // empty for SHT_NOBITS
};

struct ObjectSymbol {
  std::string name;
  uint8_t type = 0;      // STT_*
  uint8_t binding = 0;   // STB_*
  uint16_t section = 0;  // index, SHN_UNDEF or another special number
  uint64_t value = 0;
  uint64_t size = 0;

  bool defined() const { return section != 0; }
};

// Views into the bytes that it was read from.
struct ObjectFile {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
};

// Of a relocatable x86-64 file. kCorrupt.
Result<ObjectFile> ReadObject(std::string_view bytes);

// The bytes of a defined symbol. kNotFound, kCorrupt.
Result<std::string_view> SymbolData(const ObjectFile& object, std::string_view name);

// A relocatable file that defines every name at the same place: `bytes` of zero-initialised
// thread-local memory, as CUDA's dynamic shared memory has one start under all its names.
std::string MakeSharedMemoryObject(const std::vector<std::string>& names, uint64_t bytes);

}  // namespace warpsmith
