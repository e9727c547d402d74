//===- Memory.cpp - how much memory there is -------------------------------===//
#include "lib/Support/Memory.h"

#include <unistd.h>

namespace lacuna {

int64_t availableMemory() {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(::sysconf(_SC_PAGE_SIZE));
}

} // namespace lacuna
