//===- File.h - whole files ------------------------------------------------===//
#pragma once

#include "lacuna/Status.h"

namespace lacuna {

/// All bytes of a regular file.
Result<std::string> readFile(const std::string &path);

/// Creates or replaces a file. What was there stays whole until the new bytes are.
Status writeFile(const std::string &path, const std::string &bytes);

} // namespace lacuna
