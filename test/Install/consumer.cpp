//===- consumer.cpp - a program that uses an installed Lacuna -------------===//
#include "compiler/Driver/InitDialects.h"
#include "compiler/Driver/ParseSpec.h"
#include "dialects/Attn/Attn.h"

#include "lacuna/Status.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

/// Reads the spec that the command line names and says how many attends it has.
int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  auto buffer = llvm::MemoryBuffer::getFile(argv[1]);
  if (!buffer)
    return 1;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  mlir::MLIRContext context(lacuna::lacunaDialects());
  mlir::OwningOpRef<mlir::ModuleOp> module = lacuna::parseSpec(sources, &context);
  if (!module)
    return 1;
  unsigned attends = 0;
  module->walk([&](lacuna::attn::AttendOp) { ++attends; });
  llvm::outs() << attends << " attend, status " << lacuna::toString(lacuna::StatusCode::Ok) << '\n';
  return attends == 0;
}
