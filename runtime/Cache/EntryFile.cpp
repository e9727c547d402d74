//===- EntryFile.cpp - the bytes of one entry of the cache -----------------===//
//
//   magic 8, version 4, bytes of the label 4, key 32, bytes of the contents 8, SHA-256 32
//   label, contents
//
// Numbers are little-endian. The SHA-256 is over kind, label and contents; every other field of the
// header has only one right value for a key and a file.
//
//===----------------------------------------------------------------------===//
#include "runtime/Cache/EntryFile.h"

#include "lib/Artifact/ByteCoder.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

namespace lacuna {

static constexpr std::string_view magic = "\x89LACBLB\n";
static constexpr uint32_t version = 1;
static constexpr size_t headerBytes = 88, longestLabel = 200;

static std::string_view asText(const Digest &digest) {
  return {reinterpret_cast<const char *>(digest.bytes.data()), digest.bytes.size()};
}

static Digest digestOf(const CacheKey &key, std::string_view label, std::string_view contents) {
  return Sha256().update(key.kind).update("\n").update(label).update(contents).finish();
}

std::string entryHeader(const CacheKey &key, std::string_view label, std::string_view contents) {
  label = label.substr(0, longestLabel);
  ByteWriter writer;
  writer.bytes += magic;
  writer.integer(version);
  writer.integer(static_cast<uint32_t>(label.size()));
  writer.bytes += asText(key.digest);
  writer.integer(static_cast<uint64_t>(contents.size()));
  writer.bytes += asText(digestOf(key, label, contents));
  writer.bytes += label;
  return std::move(writer.bytes);
}

std::string readLabel(FileOperations &files, int file) {
  std::string header(headerBytes, '\0'), label;
  if (!readAll(files, file, header) || !header.starts_with(magic))
    return {};
  uint32_t bytes = 0;
  ByteReader(std::string_view(header).substr(12, 4)).integer(bytes);
  label.resize(std::min<size_t>(bytes, longestLabel));
  return readAll(files, file, label) ? label : std::string();
}

template <typename... Values>
static Status corrupt(fmt::format_string<Values...> format, Values &&...values) {
  return Status::error(StatusCode::Corrupt, fmt::format(format, std::forward<Values>(values)...));
}

Result<Entry> readEntry(FileOperations &files, int file, uint64_t size, const CacheKey &key) {
  auto cut = [] {
    return errno == 0 ? corrupt("it ends early")
                      : Status::error(StatusCode::Io, fmt::format("cannot read: {}", errorText()));
  };
  if (size < headerBytes)
    return corrupt("expected at least {} bytes, got {}", headerBytes, size);
  std::string header(headerBytes, '\0');
  if (!readAll(files, file, header))
    return cut();
  std::string_view view = header;
  uint32_t itsVersion = 0, labelBytes = 0;
  uint64_t bytes = 0;
  ByteReader numbers(view.substr(8, 8)), length(view.substr(48, 8));
  numbers.integer(itsVersion);
  numbers.integer(labelBytes);
  length.integer(bytes);
  if (!view.starts_with(magic))
    return corrupt("expected an entry, got other bytes");
  if (itsVersion != version)
    return corrupt("expected version {}, got {}", version, itsVersion);
  if (view.substr(16, 32) != asText(key.digest))
    return corrupt("expected the entry of its name, got that of another key");
  // The sizes are compared before anything is allocated.
  if (labelBytes > longestLabel || size - headerBytes < labelBytes ||
      size - headerBytes - labelBytes != bytes)
    return corrupt("expected a file of {} bytes, got {}", headerBytes + labelBytes + bytes, size);
  Entry entry;
  entry.label.resize(labelBytes);
  entry.contents.resize(bytes);
  if (!readAll(files, file, entry.label) || !readAll(files, file, entry.contents))
    return cut();
  if (view.substr(56, 32) != asText(digestOf(key, entry.label, entry.contents)))
    return corrupt("its checksum does not fit");
  return entry;
}

} // namespace lacuna
