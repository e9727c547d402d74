//===- EntryFile.h - the bytes of one entry of the cache -------------------===//
#pragma once

#include "lacuna/Status.h"
#include "runtime/Cache/CacheKey.h"
#include "runtime/Cache/FileOperations.h"

namespace lacuna {

/// What an entry's file holds.
struct Entry {
  std::string label, contents;
};

/// Header and label of an entry; the contents follow in the file.
std::string entryHeader(const CacheKey &key, std::string_view label, std::string_view contents);

/// Reads an entry from the start of an open file of `size` bytes. Corrupt, with the reason, unless
/// every byte is as it was written for this key.
Result<Entry> readEntry(FileOperations &files, int file, uint64_t size, const CacheKey &key);

/// The label alone; nothing else is checked but its length.
std::string readLabel(FileOperations &files, int file);

} // namespace lacuna
