#include "worker/host/object_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

namespace warpsmith {
namespace {

template <typename T>
Result<T> ReadAt(std::string_view bytes, uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return Fail(ErrorCode::kCorrupt, "object file: a record lies outside the file");
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Result<std::string_view> Slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    return Fail(ErrorCode::kCorrupt, "object file: a section lies outside the file");
  return bytes.substr(offset, size);
}

std::string TextAt(std::string_view strings, uint64_t offset) {
  if (offset >= strings.size()) return "";
  const std::string_view rest = strings.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

Result<ObjectFile> ReadObject(std::string_view bytes) {
  ASSIGN_OR_RETURN(const auto header, ReadAt<Elf64_Ehdr>(bytes, 0));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64 || header.e_type != ET_REL)
    return Fail(ErrorCode::kCorrupt, "object file: not a relocatable x86-64 file");
  std::vector<Elf64_Shdr> headers;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    ASSIGN_OR_RETURN(const auto section,
                     ReadAt<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr)));
    headers.push_back(section);
  }
  if (header.e_shstrndx >= headers.size())
    return Fail(ErrorCode::kCorrupt, "object file: no section names");
  const auto& names_header = headers[header.e_shstrndx];
  ASSIGN_OR_RETURN(const auto names, Slice(bytes, names_header.sh_offset, names_header.sh_size));

  ObjectFile object;
  for (const Elf64_Shdr& h : headers) {
    std::string_view data;
    if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL) {
      ASSIGN_OR_RETURN(data, Slice(bytes, h.sh_offset, h.sh_size));
    }
    object.sections.push_back({TextAt(names, h.sh_name), h.sh_type, h.sh_flags, h.sh_size, data});
  }
  for (const Elf64_Shdr& h : headers) {
    if (h.sh_type != SHT_SYMTAB) continue;
    if (h.sh_link >= headers.size())
      return Fail(ErrorCode::kCorrupt, "object file: symbols without names");
    ASSIGN_OR_RETURN(const auto table, Slice(bytes, h.sh_offset, h.sh_size));
    ASSIGN_OR_RETURN(const auto strings,
                     Slice(bytes, headers[h.sh_link].sh_offset, headers[h.sh_link].sh_size));
    for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table.size();
         at += sizeof(Elf64_Sym)) {
      ASSIGN_OR_RETURN(const auto symbol, ReadAt<Elf64_Sym>(table, at));
      object.symbols.push_back({TextAt(strings, symbol.st_name),
                                static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                                static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info)),
                                symbol.st_shndx, symbol.st_value, symbol.st_size});
    }
  }
  return object;
}

Result<std::string_view> SymbolData(const ObjectFile& object, std::string_view name) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.name != name || !symbol.defined()) continue;
    if (symbol.section >= object.sections.size())
      return Fail(ErrorCode::kCorrupt, fmt::format("object file: {} lies nowhere", name));
    return Slice(object.sections[symbol.section].data, symbol.value, symbol.size);
  }
  return Fail(ErrorCode::kNotFound, fmt::format("object file: no symbol {}", name));
}

std::string MakeSharedMemoryObject(const std::vector<std::string>& names, uint64_t bytes) {
  enum { kNull, kBss, kSymbols, kStrings, kSectionNames, kNoStack, kSections };
  const std::string section_names("\0.tbss\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack\0", 49);
  std::string strings(1, '\0');
  std::vector<Elf64_Sym> symbols(1);
  for (const std::string& name : names) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<uint32_t>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
    symbol.st_shndx = kBss;
    symbol.st_size = bytes;
    symbols.push_back(symbol);
    strings += name + '\0';
  }

  std::string out(sizeof(Elf64_Ehdr), '\0');
  std::vector<Elf64_Shdr> sections(kSections);
  const auto add = [&](int index, const char* name, uint32_t type, uint64_t flags,
                       std::string_view data) {
    out.resize((out.size() + 15) / 16 * 16);
    Elf64_Shdr& section = sections[index];
    section.sh_name = static_cast<uint32_t>(section_names.find(std::string(1, '\0') + name) + 1);
    section.sh_type = type;
    section.sh_flags = flags;
    section.sh_offset = out.size();
    section.sh_size = data.size();
    section.sh_addralign = 16;
    out += data;
  };
  add(kBss, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, {});
  sections[kBss].sh_size = bytes;
  sections[kBss].sh_addralign = 128;  // what TMA would ask for; float4 and the like need 16
  add(kSymbols, ".symtab", SHT_SYMTAB, 0,
      {reinterpret_cast<const char*>(symbols.data()), symbols.size() * sizeof(Elf64_Sym)});
  sections[kSymbols].sh_link = kStrings;
  sections[kSymbols].sh_info = 1;  // the first symbol that is not local
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  add(kStrings, ".strtab", SHT_STRTAB, 0, strings);
  add(kSectionNames, ".shstrtab", SHT_STRTAB, 0, section_names);
  add(kNoStack, ".note.GNU-stack", SHT_PROGBITS, 0, {});
  out.resize((out.size() + 15) / 16 * 16);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = out.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kSectionNames;
  std::memcpy(out.data(), &header, sizeof(header));
  out.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  return out;
}

}  // namespace warpsmith
