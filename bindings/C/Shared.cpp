//===- Shared.cpp - what makes liblacuna.so a library ----------------------===//
//
// All code comes from the archive; CMake wants a source.
//
//===----------------------------------------------------------------------===//
#include "lacuna/lacuna.h"
