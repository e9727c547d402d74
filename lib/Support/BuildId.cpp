//===- BuildId.cpp - which build a piece of machine code comes from --------===//
#include "lib/Support/BuildId.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <string_view>
#include <vector>

namespace lacuna {

static std::string hexOf(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// The build id among the notes of one segment, or nothing.
static std::string findBuildId(std::string_view notes) {
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    // Names and descriptions are padded to 4 bytes.
    size_t name = (size_t{note.n_namesz} + 3) & ~size_t{3};
    size_t description = (size_t{note.n_descsz} + 3) & ~size_t{3};
    if (name > notes.size() || note.n_descsz > notes.size() - name)
      return {};
    if (note.n_type == NT_GNU_BUILD_ID &&
        notes.substr(0, note.n_namesz) == std::string_view("GNU\0", 4))
      return hexOf(notes.substr(name, note.n_descsz));
    notes.remove_prefix(std::min(notes.size(), name + description));
  }
  return {};
}

namespace {
struct Wanted {
  uintptr_t address;
  std::string buildId;
};
} // namespace

static int visitObject(dl_phdr_info *object, size_t, void *data) {
  auto *wanted = static_cast<Wanted *>(data);
  bool holds = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    holds |= segment.p_type == PT_LOAD && wanted->address - start < segment.p_memsz;
  }
  for (int i = 0; holds && i < object->dlpi_phnum && wanted->buildId.empty(); ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    if (segment.p_type == PT_NOTE)
      wanted->buildId = findBuildId(
          {reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz});
  }
  return holds;
}

std::string buildIdOf(const void *address) {
  Wanted wanted{reinterpret_cast<uintptr_t>(address), {}};
  ::dl_iterate_phdr(visitObject, &wanted);
  return wanted.buildId;
}

std::string buildIdOfFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof(header)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  if (!file.read(reinterpret_cast<char *>(segments.data()),
                 static_cast<std::streamsize>(segments.size() * sizeof(Elf64_Phdr))))
    return {};
  constexpr uint64_t longest = 1 << 16;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > longest)
      continue;
    std::string notes(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file.read(notes.data(), static_cast<std::streamsize>(notes.size())))
      return {};
    if (std::string id = findBuildId(notes); !id.empty())
      return id;
  }
  return {};
}

} // namespace lacuna
