//===- ParseSpec.cpp - MLIR text whose value names are kept ----------------===//
#include "compiler/Driver/ParseSpec.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace lacuna {

/// The identifier that `range` covers, without its sigil; empty for one that is only a number.
static StringRef identifier(llvm::SMRange range) {
  if (!range.isValid())
    return {};
  StringRef text(range.Start.getPointer(),
                 static_cast<size_t>(range.End.getPointer() - range.Start.getPointer()));
  if (!text.consume_front("%") || text.empty() || llvm::isDigit(text.front()))
    return {};
  return text;
}

static Location named(Location loc, StringRef name) {
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

static void keepNames(Operation *top, const AsmParserState &state) {
  top->walk([&](Operation *op) {
    if (const AsmParserState::OperationDefinition *definition = state.getOpDef(op))
      for (const auto &group : definition->resultGroups)
        if (StringRef name = identifier(group.definition.loc);
            group.startIndex == 0 && !name.empty())
          op->setLoc(named(op->getLoc(), name));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (const AsmParserState::BlockDefinition *definition = state.getBlockDef(&block))
          for (auto [argument, source] : llvm::zip(block.getArguments(), definition->arguments))
            if (StringRef name = identifier(source.loc); !name.empty())
              argument.setLoc(named(argument.getLoc(), name));
  });
}

OwningOpRef<ModuleOp> parseSpec(const llvm::SourceMgr &sources, MLIRContext *context) {
  AsmParserState state;
  Block block;
  if (failed(parseAsmSourceFile(sources, &block, ParserConfig(context), &state)))
    return {};
  // As parseSourceFile does: a file is the module that it spells, or the body of one.
  StringRef file = sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier();
  Location start = FileLineColLoc::get(context, file, 0, 0);
  OwningOpRef<ModuleOp> module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, context, start);
  if (module)
    keepNames(module->getOperation(), state);
  return module;
}

} // namespace lacuna
