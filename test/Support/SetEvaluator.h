//===- SetEvaluator.h - a set from its text, pair by pair ------------------===//
#pragma once

#include "compiler/Driver/InitDialects.h"
#include "dialects/Sparsity/Sparsity.h"
#include "test/Support/ScalarInterpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <string>

namespace lacuna::test {

/// One pair and the sizes around it.
struct TestPair {
  std::vector<int64_t> query, key, querySizes, keySizes;
  int64_t batch = 0, head = 0;

  /// The query's position on the key axis.
  int64_t position(unsigned axis = 0, bool fromStart = false) const {
    return fromStart ? query[axis] : query[axis] + keySizes[axis] - querySizes[axis];
  }
};

/// The last set of a function's text. Its formula is judged in two ways that must agree: as affine
/// expressions whose terms are read from their IR, and through the emitted predicate.
class SetEvaluator {
public:
  /// `arguments` is the function's argument list; `body` its ops, the last one the set.
  SetEvaluator(const std::string &arguments, const std::string &body, bool canonicalize = false)
      : context(lacunaDialects(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    std::string text = "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the text does not parse:\n" << text;
      return;
    }
    function = *module->getOps<mlir::func::FuncOp>().begin();
    // A use keeps the set alive, and follows it when it changes.
    mlir::Operation *last = function.front().getTerminator()->getPrevNode();
    context.allowUnregisteredDialects();
    mlir::OpBuilder builder(function.front().getTerminator());
    mlir::OperationState state(function.getLoc(), "test.use");
    state.addOperands(last->getResult(0));
    mlir::Operation *use = builder.create(state);
    if (canonicalize)
      runCanonicalizer();
    set = use->getOperand(0);
    use->erase();
    auto type = llvm::cast<sparsity::SetType>(set.getType());
    space.emplace(&context, type.getQueryRank(), type.getKeyRank());
    mlir::FailureOr<sparsity::Formula> built = sparsity::buildFormula(set, *space);
    if (mlir::failed(built)) {
      ADD_FAILURE() << "the set has no formula";
      return;
    }
    formula = *built;
    emitAll();
  }

  explicit operator bool() const { return formula.has_value(); }
  const sparsity::Formula &getFormula() const { return *formula; }
  const sparsity::FormulaSpace &getSpace() const { return *space; }

  /// Gives argument `index` its value.
  SetEvaluator &with(unsigned index, int64_t value) {
    interpreter.numbers[function.getArgument(index)] = value;
    return *this;
  }
  SetEvaluator &with(unsigned index, std::vector<int64_t> elements) {
    interpreter.tensors[function.getArgument(index)] = std::move(elements);
    return *this;
  }

  /// Whether the pair is live according to the emitted predicate.
  bool predicate(const TestPair &pair) {
    load(pair);
    return interpreter.at(live);
  }

  /// Whether the pair is live according to `formula`. Call predicate() for the same pair first.
  bool holds(const sparsity::Formula &formula, const TestPair &pair) {
    using Kind = sparsity::Formula::Kind;
    switch (formula.getKind()) {
    case Kind::True:
    case Kind::False:
      return formula.isAlways();
    case Kind::NonNegative:
      return evaluate(formula.getExpr(), pair) >= 0;
    case Kind::Zero:
      return evaluate(formula.getExpr(), pair) == 0;
    case Kind::Opaque:
      return interpreter.at(opaque.at({formula.getOp(), formula.getTerm()})) != formula.isNegated();
    case Kind::And:
      return llvm::all_of(formula.getParts(), [&](const auto &part) { return holds(part, pair); });
    case Kind::Or:
      return llvm::any_of(formula.getParts(), [&](const auto &part) { return holds(part, pair); });
    }
    return false;
  }

  /// The value of symbol `index` at the pair that predicate() saw last.
  int64_t symbol(unsigned index) { return interpreter.at(symbols[index]); }

private:
  void runCanonicalizer() {
    mlir::PassManager passes(&context);
    passes.addPass(mlir::createCanonicalizerPass());
    if (mlir::failed(passes.run(*module)))
      ADD_FAILURE() << "the canonicalizer fails";
  }

  /// Emits the predicate, each symbol and each opaque term in front of the function's end.
  void emitAll() {
    mlir::OpBuilder builder(function.front().getTerminator());
    mlir::Location loc = function.getLoc();
    auto argument = [&] { return function.front().addArgument(builder.getIndexType(), loc); };
    pairValues.batch = argument();
    pairValues.head = argument();
    for (unsigned axis = 0; axis < space->getQueryRank(); ++axis) {
      pairValues.query.push_back(argument());
      pairValues.querySizes.push_back(argument());
    }
    for (unsigned axis = 0; axis < space->getKeyRank(); ++axis) {
      pairValues.key.push_back(argument());
      pairValues.keySizes.push_back(argument());
    }
    live = sparsity::emitPredicate(builder, loc, *formula, *space, pairValues);
    for (const sparsity::Symbol &symbol : space->getSymbols())
      symbols.push_back(sparsity::emitSymbol(builder, loc, symbol, pairValues));
    emitOpaque(builder, *formula);
  }

  void emitOpaque(mlir::OpBuilder &builder, const sparsity::Formula &part) {
    if (part.getKind() == sparsity::Formula::Kind::Opaque)
      opaque[{part.getOp(), part.getTerm()}] =
          llvm::cast<sparsity::SetOpInterface>(part.getOp())
              .emitTerm(builder, function.getLoc(), part.getTerm(), pairValues);
    for (const sparsity::Formula &inner : part.getParts())
      emitOpaque(builder, inner);
  }

  void load(const TestPair &pair) {
    auto assign = [&](mlir::ValueRange values, const std::vector<int64_t> &numbers) {
      for (auto [value, number] : llvm::zip_equal(values, numbers))
        interpreter.numbers[value] = number;
    };
    assign(pairValues.query, pair.query);
    assign(pairValues.key, pair.key);
    assign(pairValues.querySizes, pair.querySizes);
    assign(pairValues.keySizes, pair.keySizes);
    interpreter.numbers[pairValues.batch] = pair.batch;
    interpreter.numbers[pairValues.head] = pair.head;
    for (mlir::Operation &op : function.front().without_terminator())
      if (op.getDialect()->getNamespace() != "sparsity")
        interpreter.run(&op);
  }

  int64_t evaluate(mlir::AffineExpr expr, const TestPair &pair) {
    if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
      return constant.getValue();
    if (auto symbolExpr = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr))
      return symbol(symbolExpr.getPosition());
    if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
      return dim.getPosition() < pair.query.size()
                 ? pair.query[dim.getPosition()]
                 : pair.key[dim.getPosition() - pair.query.size()];
    auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    int64_t a = evaluate(binary.getLHS(), pair), b = evaluate(binary.getRHS(), pair);
    int64_t floor = b == 0 ? 0 : a / b - (a % b < 0);
    switch (binary.getKind()) {
    case mlir::AffineExprKind::Add:
      return a + b;
    case mlir::AffineExprKind::Mul:
      return a * b;
    case mlir::AffineExprKind::FloorDiv:
      return floor;
    case mlir::AffineExprKind::Mod:
      return a - floor * b;
    default:
      ADD_FAILURE() << "an expression that no formula has";
      return 0;
    }
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Value set, live;
  std::optional<sparsity::FormulaSpace> space;
  std::optional<sparsity::Formula> formula;
  sparsity::PairContext pairValues;
  std::vector<mlir::Value> symbols;
  std::map<std::pair<mlir::Operation *, unsigned>, mlir::Value> opaque;
  ScalarInterpreter interpreter;
};

/// Calls `visit` with every pair of these sizes.
inline void forEachPair(std::vector<int64_t> querySizes, std::vector<int64_t> keySizes,
                        llvm::function_ref<void(const TestPair &)> visit) {
  auto count = [](const std::vector<int64_t> &sizes) {
    int64_t product = 1;
    for (int64_t size : sizes)
      product *= size;
    return product;
  };
  auto coordinates = [](const std::vector<int64_t> &sizes, int64_t token) {
    std::vector<int64_t> result(sizes.size());
    for (size_t axis = sizes.size(); axis-- > 0; token /= sizes[axis])
      result[axis] = token % sizes[axis];
    return result;
  };
  TestPair pair{{}, {}, querySizes, keySizes};
  for (int64_t query = 0; query < count(querySizes); ++query)
    for (int64_t key = 0; key < count(keySizes); ++key) {
      pair.query = coordinates(querySizes, query);
      pair.key = coordinates(keySizes, key);
      visit(pair);
    }
}

} // namespace lacuna::test
