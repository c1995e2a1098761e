#include "worker/cuda/cubin.h"

#include <elf.h>

#include <cstring>

namespace warpsmith {
namespace {

constexpr uint16_t kMachineCuda = 190;  // EM_CUDA
constexpr uint64_t kMaxVariableBytes = 1 << 20;
// One attribute in .nv.info.<kernel>: format, attribute, then a size or a value (16 bits), payload.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kAttributeMaxThreads = 5;  // EIATTR_MAX_THREADS: three 32-bit words

template <typename T>
bool Read(std::string_view bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

Result<Cubin> Cubin::Parse(std::string_view bytes) {
  Elf64_Ehdr header;
  if (!Read(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachineCuda || header.e_shentsize != sizeof(Elf64_Shdr))
    return Fail(ErrorCode::kCorrupt, "the binary is no cubin: compile the candidate again");
  Cubin cubin;
  cubin.bytes_ = bytes;
  cubin.table_offset_ = header.e_shoff;
  cubin.count_ = header.e_shnum;
  const auto names = cubin.ReadSection(header.e_shstrndx);
  const auto name_bytes = names ? cubin.Bytes(*names) : std::nullopt;
  if (!name_bytes)
    return Fail(ErrorCode::kCorrupt,
                "the cubin's section table is cut: compile the candidate again");
  cubin.names_ = *name_bytes;
  for (uint64_t i = 0; i < cubin.count_; ++i) {
    const auto section = cubin.ReadSection(i);
    if (!section) return Fail(ErrorCode::kCorrupt, "the cubin's section table is cut");
    if (section->name == ".nv.global" || section->name == ".nv.global.init")
      cubin.global_bytes_ += section->size;
  }
  return cubin;
}

std::optional<Cubin::Section> Cubin::ReadSection(uint64_t index) const {
  Elf64_Shdr header;
  if (index >= count_ || table_offset_ > bytes_.size() ||
      !Read(bytes_, table_offset_ + index * sizeof(header), header))
    return std::nullopt;
  Section section;
  section.name = StringAt(names_, header.sh_name);
  section.type = header.sh_type;
  section.offset = header.sh_offset;
  section.size = header.sh_size;
  section.link = header.sh_link;
  section.entry_size = header.sh_entsize;
  return section;
}

std::optional<std::string_view> Cubin::Bytes(const Section& section) const {
  if (section.type == SHT_NOBITS || section.offset > bytes_.size() ||
      bytes_.size() - section.offset < section.size)
    return std::nullopt;
  return bytes_.substr(section.offset, section.size);
}

std::string_view Cubin::StringAt(std::string_view table, uint64_t offset) const {
  if (offset >= table.size()) return {};
  table.remove_prefix(offset);
  return table.substr(0, table.find('\0'));
}

std::optional<std::string> Cubin::Variable(std::string_view symbol) const {
  for (uint64_t i = 0; i < count_; ++i) {
    const auto section = ReadSection(i);
    if (!section || section->type != SHT_SYMTAB) continue;
    const auto symbols = Bytes(*section);
    const auto strings_section = ReadSection(section->link);
    const auto strings = strings_section ? Bytes(*strings_section) : std::nullopt;
    if (!symbols || !strings) return std::nullopt;
    Elf64_Sym entry;
    for (uint64_t at = 0; Read(*symbols, at, entry); at += sizeof(entry)) {
      if (StringAt(*strings, entry.st_name) != symbol || entry.st_size > kMaxVariableBytes)
        continue;
      const auto home = ReadSection(entry.st_shndx);
      if (!home) return std::nullopt;
      if (home->type == SHT_NOBITS) return std::string(entry.st_size, '\0');
      const auto data = Bytes(*home);
      if (!data || entry.st_value > data->size() || data->size() - entry.st_value < entry.st_size)
        return std::nullopt;
      return std::string(data->substr(entry.st_value, entry.st_size));
    }
  }
  return std::nullopt;
}

std::optional<int> Cubin::DeclaredMaxThreads(std::string_view kernel_symbol) const {
  const std::string wanted = ".nv.info." + std::string(kernel_symbol);
  for (uint64_t i = 0; i < count_; ++i) {
    const auto section = ReadSection(i);
    if (!section || section->name != wanted) continue;
    const auto info = Bytes(*section);
    if (!info) return std::nullopt;
    uint64_t at = 0;
    uint8_t format = 0, attribute = 0;
    uint16_t size = 0;
    while (Read(*info, at, format) && Read(*info, at + 1, attribute) && Read(*info, at + 2, size)) {
      at += 4;
      if (format != kFormatSized) continue;  // its 16 bits are the value
      uint32_t dims[3];
      if (attribute == kAttributeMaxThreads && Read(*info, at, dims)) {
        const uint64_t threads = uint64_t{dims[0]} * dims[1] * dims[2];
        if (threads >= 1 && threads <= 1024) return static_cast<int>(threads);
      }
      at += size;
    }
  }
  return std::nullopt;
}

}  // namespace warpsmith
