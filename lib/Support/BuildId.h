//===- BuildId.h - which build a piece of machine code comes from ----------===//
#pragma once

#include <string>

namespace lacuna {

/// The linker's digest of the program or library that holds `address`, in hex; empty when it has
/// none. Every change of its code changes the digest.
std::string buildIdOf(const void *address);

/// The same of a 64-bit ELF file, which is not loaded; empty when it has none or cannot be read.
std::string buildIdOfFile(const std::string &path);

} // namespace lacuna
