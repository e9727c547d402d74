//===- Cubin.cpp - facts in the headers of machine code --------------------===//
#include "runtime/Jit/Cubin.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <optional>

namespace lacuna {

static Status corrupt(std::string_view what) {
  return Status::error(StatusCode::Corrupt, fmt::format("expected {} in the cubin", what));
}

namespace {
/// An ELF file in memory; every read is checked against its end.
class CubinReader {
public:
  explicit CubinReader(std::string_view bytes) : bytes(bytes) {}
  Result<std::vector<KernelReport>> read();

private:
  template <typename T> std::optional<T> at(std::string_view from, uint64_t offset) const {
    if (offset > from.size() || from.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, from.data() + offset, sizeof(T));
    return value;
  }
  Status readSections();
  std::string_view contents(const Elf64_Shdr &section) const;
  std::string_view name(const Elf64_Shdr &strings, uint32_t offset) const;
  /// Attributes of `.nv.info`: a format, a number, and then a value or its size and bytes.
  Status readInfo(const Elf64_Shdr &info);
  Status apply(uint8_t attribute, uint32_t symbol, uint32_t value, const Elf64_Shdr &info);
  KernelReport &kernel(std::string_view name);

  std::string_view bytes;
  std::vector<Elf64_Shdr> sections;
  Elf64_Shdr names{};
  std::vector<KernelReport> kernels;
};
} // namespace

std::string_view CubinReader::contents(const Elf64_Shdr &section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes.size() ||
      section.sh_size > bytes.size() - section.sh_offset)
    return {};
  return bytes.substr(section.sh_offset, section.sh_size);
}

std::string_view CubinReader::name(const Elf64_Shdr &strings, uint32_t offset) const {
  std::string_view table = contents(strings);
  if (offset >= table.size())
    return {};
  std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

Status CubinReader::readSections() {
  auto header = at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 190 /*EM_CUDA*/)
    return corrupt("a 64-bit ELF header for CUDA");
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    auto section = at<Elf64_Shdr>(bytes, header->e_shoff + uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section)
      return corrupt("as many sections as the header says");
    sections.push_back(*section);
  }
  if (header->e_shstrndx >= sections.size())
    return corrupt("a table of section names");
  names = sections[header->e_shstrndx];
  return Status::ok();
}

KernelReport &CubinReader::kernel(std::string_view name) {
  for (KernelReport &kernel : kernels)
    if (kernel.name == name)
      return kernel;
  return kernels.emplace_back(KernelReport{.name = std::string(name)});
}

Status CubinReader::apply(uint8_t attribute, uint32_t symbol, uint32_t value,
                          const Elf64_Shdr &info) {
  // Numbers of the vendor's attributes; `.nv.info` links to the table of symbols.
  constexpr uint8_t frameSize = 0x11, registerCount = 0x2f;
  if (attribute != frameSize && attribute != registerCount)
    return Status::ok();
  if (info.sh_link >= sections.size())
    return corrupt("a table of symbols");
  const Elf64_Shdr &symbols = sections[info.sh_link];
  auto entry = at<Elf64_Sym>(contents(symbols), uint64_t{symbol} * sizeof(Elf64_Sym));
  if (!entry || symbols.sh_link >= sections.size())
    return corrupt("the symbols that its attributes name");
  KernelReport &of = kernel(name(sections[symbols.sh_link], entry->st_name));
  (attribute == registerCount ? of.registers : of.stackBytes) = value;
  return Status::ok();
}

Status CubinReader::readInfo(const Elf64_Shdr &info) {
  std::string_view rest = contents(info);
  while (rest.size() >= 4) {
    constexpr uint8_t sizedFormat = 4;
    auto format = static_cast<uint8_t>(rest[0]), attribute = static_cast<uint8_t>(rest[1]);
    uint16_t size = format == sizedFormat ? *at<uint16_t>(rest, 2) : uint16_t{0};
    if (rest.size() - 4 < size)
      return corrupt("whole attributes");
    if (size == 8)
      if (Status status = apply(attribute, *at<uint32_t>(rest, 4), *at<uint32_t>(rest, 8), info);
          !status)
        return status;
    rest.remove_prefix(size_t{4} + size);
  }
  return Status::ok();
}

Result<std::vector<KernelReport>> CubinReader::read() {
  if (Status status = readSections(); !status)
    return status;
  for (const Elf64_Shdr &section : sections)
    if (name(names, section.sh_name) == ".nv.info")
      if (Status status = readInfo(section); !status)
        return status;
  // Device functions that were not inlined have attributes too, but no constant bank.
  std::erase_if(kernels, [&](const KernelReport &kernel) {
    return std::none_of(sections.begin(), sections.end(), [&](const Elf64_Shdr &section) {
      return name(names, section.sh_name) == ".nv.constant0." + kernel.name;
    });
  });
  for (const Elf64_Shdr &section : sections) {
    std::string_view text = name(names, section.sh_name);
    constexpr std::string_view shared = ".nv.shared.";
    for (KernelReport &of : kernels)
      if (text.starts_with(shared) && text.substr(shared.size()) == of.name)
        of.sharedBytes = static_cast<unsigned>(section.sh_size);
  }
  return kernels;
}

Result<std::vector<KernelReport>> readCubin(std::string_view cubin) {
  return CubinReader(cubin).read();
}

} // namespace lacuna
