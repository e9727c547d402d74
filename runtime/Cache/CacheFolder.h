//===- CacheFolder.h - a folder that only we can write ---------------------===//
#pragma once

#include "lacuna/Status.h"
#include "runtime/Cache/FileOperations.h"

namespace lacuna {

/// Opens the folder of entries below the cache folder `path`. Whoever may write there chooses what
/// runs on the GPU: both folders must belong to this user and be writable by nobody else;
/// InvalidArgument says what was found. When there is none it is made (`create`), or NotFound.
Result<FileHandle> openCacheFolder(const std::string &path, bool create);

/// Name of the folder of entries; a layout that older versions cannot read has another.
inline constexpr const char *entriesFolder = "v1";

} // namespace lacuna
