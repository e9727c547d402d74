//===- SparsityMessagesTest.cpp - refusals that no text can provoke -------===//
#include "test/Support/SetEvaluator.h"

#include "mlir/IR/Diagnostics.h"

using namespace lacuna;

namespace {
class SparsityMessages : public testing::Test {
protected:
  SparsityMessages()
      : context(lacunaDialects(), mlir::MLIRContext::Threading::DISABLED),
        handler(&context, [this](mlir::Diagnostic &diagnostic) { message = diagnostic.str(); }) {
    context.loadAllAvailableDialects();
  }

  /// Builds the formula of the only argument of a function.
  bool buildsFormula(const std::string &type) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func private @f(%s: " + type + ") { return }", &context);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    sparsity::FormulaSpace space(&context, 1, 1);
    return succeeded(sparsity::buildFormula(function.getArgument(0), space));
  }

  mlir::MLIRContext context;
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

// The parser asks for a number first.
TEST_F(SparsityMessages, domain_1_noSegments) {
  mlir::Location loc = mlir::UnknownLoc::get(&context);
  auto type = sparsity::DomainType::getChecked([&] { return mlir::emitError(loc); }, &context,
                                               llvm::ArrayRef<int64_t>{});
  EXPECT_FALSE(type);
  EXPECT_EQ(message, "expected at least one segment");
}

// Passes stop at such sets before they ask for a formula.
TEST_F(SparsityMessages, formulaOfAnArgument) {
  EXPECT_FALSE(buildsFormula("!sparsity.set<1>"));
  EXPECT_EQ(message,
            "expected a set whose definition is visible, got a value that no set op defines");
}

TEST_F(SparsityMessages, formulaOverAConcatenation) {
  EXPECT_FALSE(buildsFormula("!sparsity.set<1, 2>"));
  EXPECT_EQ(message, "expected a set between one segment of queries and one of keys, got "
                     "'!sparsity.set<1, 2>'");
}
