//===- Commands.cpp - the list of subcommands -----------------------------===//
#include "tools/lacuna/Command.h"

namespace lacuna::tool {

llvm::ArrayRef<const Command *> allCommands() {
  static const Command *const commands[] = {
      &runCommand,     &explainCommand, &plotCommand,  &benchCommand,
      &compileCommand, &inspectCommand, &cacheCommand, &envCommand,
  };
  return commands;
}

} // namespace lacuna::tool
