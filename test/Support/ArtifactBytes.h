//===- ArtifactBytes.h - artifacts taken apart and put together again ------===//
#pragma once

#include "lib/Support/Sha256.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace lacuna {

/// Where the parts of an artifact lie, as its header says; nothing is checked.
struct ArtifactLayout {
  static constexpr size_t table = 24, row = 48, checksum = 32;

  static uint32_t countOf(std::string_view bytes) {
    uint32_t count = 0;
    std::memcpy(&count, bytes.data() + 12, sizeof(count));
    return count;
  }
  static uint64_t lengthOf(std::string_view bytes, uint32_t section) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data() + table + section * row + 8, sizeof(length));
    return length;
  }
  static size_t firstSection(std::string_view bytes) {
    return table + size_t{countOf(bytes)} * row + checksum;
  }
};

/// Puts the right checksums over changed sections and header, as who wants to do harm would.
inline void repairChecksums(std::string &bytes) {
  using Layout = ArtifactLayout;
  size_t at = Layout::firstSection(bytes), end = at - Layout::checksum;
  for (uint32_t i = 0; i < Layout::countOf(bytes); ++i) {
    uint64_t length = Layout::lengthOf(bytes, i);
    Digest digest = sha256(std::string_view(bytes).substr(at, length));
    std::memcpy(bytes.data() + Layout::table + i * Layout::row + 16, digest.bytes.data(), 32);
    at += length;
  }
  Digest header = sha256(std::string_view(bytes).substr(0, end));
  std::memcpy(bytes.data() + end, header.bytes.data(), 32);
}

/// Replaces a section by bytes of any length, with the right lengths and checksums.
inline void replaceSection(std::string &bytes, uint32_t section, std::string_view with) {
  using Layout = ArtifactLayout;
  size_t at = Layout::firstSection(bytes);
  for (uint32_t i = 0; i < section; ++i)
    at += Layout::lengthOf(bytes, i);
  bytes.replace(at, Layout::lengthOf(bytes, section), with);
  uint64_t length = with.size(), total = bytes.size();
  std::memcpy(bytes.data() + Layout::table + section * Layout::row + 8, &length, sizeof(length));
  std::memcpy(bytes.data() + 16, &total, sizeof(total));
  repairChecksums(bytes);
}

} // namespace lacuna
