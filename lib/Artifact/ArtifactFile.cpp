//===- ArtifactFile.cpp - programs as files --------------------------------===//
//
//   header    magic, version, number of sections, bytes of the file
//   table     per section: kind, kernel, bytes, SHA-256
//   checksum  SHA-256 of header and table
//   sections  in the order of the table, nothing between them
//
//===----------------------------------------------------------------------===//
#include "lacuna/ArtifactFile.h"

#include "lib/Artifact/ByteCoder.h"
#include "lib/Artifact/CheckManifest.h"
#include "lib/Artifact/ProgramCoder.h"
#include "lib/Support/File.h"
#include "lib/Support/Sha256.h"

#include <algorithm>
#include <limits>

namespace lacuna {

/// Not a letter first, and a line end: what a transfer as text would damage.
static constexpr std::string_view magic = "\x89LACUNA\n";

namespace {
enum class SectionKind : uint32_t { Origin, Program, Source, Cubin };

/// A row of the table.
struct Section {
  SectionKind kind = SectionKind::Origin;
  uint32_t kernel = 0;
  uint64_t bytes = 0;
  Digest digest;
};
} // namespace

static constexpr size_t headerBytes = 24, rowBytes = 48, checksumBytes = 32;
/// A list of sections is longer than any program needs and short enough to check at once.
static constexpr uint32_t mostSections = 1 << 16;

static const char *nameOf(SectionKind kind) {
  switch (kind) { // No default: a new enumerator must break this build.
  case SectionKind::Origin:
    return "origin";
  case SectionKind::Program:
    return "program";
  case SectionKind::Source:
    return "source";
  case SectionKind::Cubin:
    return "cubin";
  }
  return "unknown";
}

template <typename... Values>
static Status corrupt(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::Corrupt, fmt::format(format, std::forward<Values>(values)...));
}

static std::string_view asText(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.bytes.data()), digest.bytes.size()};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Result<std::string> writeArtifact(const Artifact &artifact) {
  const Program &program = artifact.program;
  if (program.native)
    return Status::error(StatusCode::Unsupported,
                         "expected a program for a GPU, got machine code of this process");
  if (Status status = checkProgram(program); !status)
    return status;
  std::vector<std::pair<Section, std::string>> sections;
  auto add = [&](SectionKind kind, size_t kernel, std::string bytes) {
    Section section{kind, static_cast<uint32_t>(kernel), bytes.size(), sha256(bytes)};
    sections.emplace_back(section, std::move(bytes));
  };
  add(SectionKind::Origin, 0, writeOrigin(artifact.origin));
  add(SectionKind::Program, 0, writeProgram(program));
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    add(SectionKind::Source, i, program.kernels[i].source);
    if (!program.kernels[i].cubin.empty())
      add(SectionKind::Cubin, i, program.kernels[i].cubin);
  }
  if (sections.size() > mostSections)
    return corrupt("expected at most {} sections, got {}", mostSections, sections.size());

  uint64_t total = headerBytes + rowBytes * sections.size() + checksumBytes;
  for (const auto &[section, bytes] : sections)
    total += section.bytes;
  ByteWriter writer;
  writer.bytes.reserve(total);
  writer.bytes += magic;
  writer.integer(artifactVersion);
  writer.integer(static_cast<uint32_t>(sections.size()));
  writer.integer(total);
  for (const auto &[section, bytes] : sections) {
    writer.integer(static_cast<uint32_t>(section.kind));
    writer.integer(section.kernel);
    writer.integer(section.bytes);
    writer.bytes += asText(section.digest);
  }
  writer.bytes += asText(sha256(writer.bytes));
  for (const auto &[section, bytes] : sections)
    writer.bytes += bytes;
  return std::move(writer.bytes);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Magic and version of `bytes`, and whether the table is there.
static Status checkHeader(std::string_view bytes) {
  if (!bytes.starts_with(magic.substr(0, bytes.size())) || bytes.empty())
    return corrupt("expected an artifact, got other bytes");
  if (bytes.size() < headerBytes)
    return corrupt("expected an artifact of at least {} bytes, got {}", headerBytes, bytes.size());
  uint32_t version = 0, count = 0;
  ByteReader reader(bytes.substr(magic.size()));
  reader.integer(version);
  reader.integer(count);
  if (version > artifactVersion)
    return Status::error(StatusCode::Unsupported,
                         fmt::format("expected an artifact of format version {} or older, got "
                                     "version {}: it is damaged or a newer Lacuna wrote it",
                                     artifactVersion, version));
  if (version == 0)
    return corrupt("expected an artifact of format version 1 to {}, got version 0",
                   artifactVersion);
  if (count > mostSections)
    return corrupt("expected at most {} sections, got {}", mostSections, count);
  size_t needed = headerBytes + size_t{count} * rowBytes + checksumBytes;
  if (bytes.size() < needed)
    return corrupt("expected an artifact of at least {} bytes, got {}", needed, bytes.size());
  return Status::ok();
}

/// The table of an artifact whose header was checked.
static Result<std::vector<Section>> readTable(std::string_view bytes) {
  uint32_t count = 0;
  uint64_t total = 0;
  ByteReader header(bytes.substr(magic.size() + 4));
  header.integer(count);
  header.integer(total);
  size_t tableEnd = headerBytes + size_t{count} * rowBytes, sum = tableEnd + checksumBytes;
  if (asText(sha256(bytes.substr(0, tableEnd))) != bytes.substr(tableEnd, checksumBytes))
    return corrupt("the artifact's header is damaged: its checksum does not fit");
  if (total != bytes.size())
    return corrupt("expected an artifact of {} bytes, got {}", total, bytes.size());
  std::vector<Section> sections(count);
  for (size_t i = 0; i < count; ++i) {
    std::string_view row = bytes.substr(headerBytes + i * rowBytes, rowBytes);
    ByteReader reader(row);
    uint32_t kind = 0;
    reader.integer(kind);
    reader.integer(sections[i].kernel);
    reader.integer(sections[i].bytes);
    std::copy_n(row.end() - 32, 32, sections[i].digest.bytes.begin());
    if (kind > static_cast<uint32_t>(SectionKind::Cubin))
      return corrupt("expected section {} to be of a known kind, got number {}", i, kind);
    sections[i].kind = static_cast<SectionKind>(kind);
    if (sections[i].bytes > total - sum)
      return corrupt("expected section {} to have at most {} bytes, got {}", i, total - sum,
                     sections[i].bytes);
    sum += sections[i].bytes;
  }
  if (sum != total)
    return corrupt("expected sections of {} bytes, got {}", total, sum);
  return sections;
}

namespace {
/// Puts sections into an artifact, in their order.
class SectionReader {
public:
  Status add(const Section &section, std::string_view bytes);
  /// The artifact, when everything is there and well formed.
  Result<Artifact> finish();

private:
  Status addCode(const Section &section, std::string_view bytes);

  Artifact artifact;
  unsigned added = 0;
  /// Kernels whose source was read.
  size_t sources = 0;
};
} // namespace

Status SectionReader::addCode(const Section &section, std::string_view bytes) {
  std::vector<KernelCode> &kernels = artifact.program.kernels;
  bool isSource = section.kind == SectionKind::Source;
  // A source comes next in order; machine code comes right after its source.
  size_t wanted = isSource ? sources : sources - 1;
  if (wanted >= kernels.size() || section.kernel != wanted)
    return corrupt("expected the {} of one of {} kernels in order, got that of kernel {}",
                   nameOf(section.kind), kernels.size(), section.kernel);
  std::string &into = isSource ? kernels[wanted].source : kernels[wanted].cubin;
  if (!into.empty())
    return corrupt("expected one cubin of kernel {}, got two", wanted);
  into = bytes;
  sources += isSource;
  return Status::ok();
}

Status SectionReader::add(const Section &section, std::string_view bytes) {
  if (sha256(bytes) != section.digest)
    return corrupt("section {} of the artifact ({}) is damaged: its checksum does not fit", added,
                   nameOf(section.kind));
  unsigned number = added++;
  if (number >= 2 && section.kind >= SectionKind::Source)
    return addCode(section, bytes);
  if (number > 1 || section.kind != (number == 0 ? SectionKind::Origin : SectionKind::Program))
    return corrupt("expected sections origin, program, then code, got {} as section {}",
                   nameOf(section.kind), number);
  Status status = Status::ok();
  if (number == 0) {
    Result<ArtifactOrigin> origin = readOrigin(bytes);
    status = origin.status();
    if (origin)
      artifact.origin = std::move(*origin);
  } else {
    Result<Program> program = readProgram(bytes);
    status = program.status();
    if (program)
      artifact.program = std::move(*program);
  }
  if (status)
    return status;
  return corrupt("section {} of the artifact ({}): {}", number, nameOf(section.kind),
                 status.message());
}

Result<Artifact> SectionReader::finish() {
  if (added < 2)
    return corrupt("expected sections origin and program, got {} sections", added);
  if (sources != artifact.program.kernels.size())
    return corrupt("expected sources of {} kernels, got {}", artifact.program.kernels.size(),
                   sources);
  if (Status status = checkProgram(artifact.program); !status)
    return status;
  return std::move(artifact);
}

Result<Artifact> readArtifact(std::span<const char> span) {
  std::string_view bytes(span.data(), span.size());
  if (Status status = checkHeader(bytes); !status)
    return status;
  Result<std::vector<Section>> table = readTable(bytes);
  if (!table)
    return table.status();
  std::string_view rest = bytes.substr(headerBytes + table->size() * rowBytes + checksumBytes);
  SectionReader reader;
  for (const Section &section : *table) {
    if (Status status = reader.add(section, rest.substr(0, section.bytes)); !status)
      return status;
    rest.remove_prefix(section.bytes);
  }
  return reader.finish();
}

bool isArtifact(std::span<const char> bytes) {
  return std::string_view(bytes.data(), bytes.size()).starts_with(magic);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Status saveArtifact(const std::string &path, const Artifact &artifact) {
  Result<std::string> bytes = writeArtifact(artifact);
  return bytes ? writeFile(path, *bytes) : bytes.status();
}

Result<Artifact> loadArtifact(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.status();
  Result<Artifact> artifact = readArtifact(*bytes);
  if (!artifact)
    return Status::error(artifact.status().code(),
                         fmt::format("{}: {}", path, artifact.status().message()));
  return artifact;
}

} // namespace lacuna
