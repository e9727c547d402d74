//===- Polyhedron.h - linear constraints over shared columns --------------===//
//
// The arithmetic below footprints: polyhedra whose unknowns are the tokens of
// a tile and whose parameters are tile coordinates, lengths and run-time
// numbers. Floor divisions are columns with a definition, so every polyhedron
// of one analysis speaks about the same ones and differences need no renaming.
// Emptiness and redundancy are decided by MLIR's Presburger library.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mlir::presburger {
class Simplex;
} // namespace mlir::presburger

namespace lacuna {

using Integer = llvm::DynamicAPInt;

/// A linear form: one coefficient per column, the constant first. What lies beyond the end is 0.
class Row {
public:
  Row() = default;
  explicit Row(int64_t constant) : values{Integer(constant)} {}
  /// coefficient * column.
  static Row term(unsigned column, int64_t coefficient = 1);

  const Integer &at(unsigned column) const;
  void set(unsigned column, const Integer &value);
  const Integer &constant() const { return at(0); }
  unsigned size() const { return values.size(); }

  Row &operator+=(const Row &other);
  Row operator+(const Row &other) const { return Row(*this) += other; }
  Row operator-(const Row &other) const { return *this + other * Integer(-1); }
  Row operator+(int64_t value) const { return *this + Row(value); }
  Row operator-(int64_t value) const { return *this + Row(-value); }
  Row operator*(const Integer &factor) const;
  Row operator*(int64_t factor) const { return *this * Integer(factor); }
  bool operator==(const Row &other) const;

  /// Greatest common divisor of the coefficients, the constant left out; 0 when there is none.
  Integer gcd() const;
  bool isConstant() const { return gcd() == 0; }
  /// Whether both differ in the constant at most.
  bool sameCoefficients(const Row &other) const;
  /// Number of columns with a coefficient, the constant left out.
  unsigned countTerms() const;
  /// Calls `visit` with each column that has a coefficient, the constant left out.
  void forEachColumn(llvm::function_ref<void(unsigned)> visit) const;

private:
  llvm::SmallVector<Integer, 0> values;
};

/// All columns of one analysis. Column 0 is the number 1.
class Columns {
public:
  /// `dividend` floordiv `divisor`.
  struct Division {
    Row dividend;
    Integer divisor;
  };

  Columns() { columns.push_back({}); }

  unsigned add();
  /// The column of a floor division; equal divisions share one. The divisor is positive.
  unsigned addDivision(const Row &dividend, const Integer &divisor);
  /// A row that equals `dividend` floordiv `divisor`; multiples leave the division.
  Row floorDivide(const Row &dividend, const Integer &divisor);

  unsigned size() const { return columns.size(); }
  /// Null when the column is a plain variable.
  const Division *getDivision(unsigned column) const;
  /// Whether `row` has one of `wanted`, directly or inside a division.
  bool dependsOn(const Row &row, const llvm::BitVector &wanted) const;
  /// Whether `row` has one of `wanted` inside a division.
  bool dividesBy(const Row &row, const llvm::BitVector &wanted) const;
  /// The two inequalities that define a division.
  std::pair<Row, Row> getDefinition(unsigned column) const;
  /// Every column that `row` reaches, including those inside divisions.
  void collect(const Row &row, llvm::BitVector &reached) const;

  /// Whether the questions asked so far have taken more work than an analysis should: it then ends
  /// without a result. Counted in steps, so that the outcome does not depend on the machine.
  bool isExhausted() const { return work > maxWork; }
  void addWork(uint64_t steps) const { work += steps; }

private:
  static constexpr uint64_t maxWork = 8'000'000;
  mutable uint64_t work = 0;
  // A deque: references stay valid while divisions are added.
  std::deque<std::optional<Division>> columns;
};

/// A conjunction: every inequality >= 0 and every equality == 0.
struct Polyhedron {
  llvm::SmallVector<Row, 0> inequalities, equalities;
};

/// A growing conjunction of inequalities that answers questions. Answers are about rational
/// solutions of rows tightened to integers: looking for integer solutions takes minutes on some
/// systems, and an empty piece that is kept costs no visit. Divisions count with their definition.
class LinearSystem {
public:
  /// Only columns that rows of `groups` reach may occur later on.
  LinearSystem(const Columns &columns, llvm::ArrayRef<llvm::ArrayRef<Row>> groups);
  LinearSystem(LinearSystem &&other);
  ~LinearSystem();

  void add(llvm::ArrayRef<Row> rows);
  bool isEmpty() const;
  bool isEmptyWith(const Row &row);
  /// Whether `row` is >= 0 everywhere.
  bool implies(const Row &row) { return isEmptyWith(row * -1 - 1); }
  /// Adds `rows` without those that follow from the others, and returns the ones that stay.
  llvm::SmallVector<Row> addIrredundant(llvm::ArrayRef<Row> rows);

private:
  llvm::SmallVector<Integer> convert(const Row &row) const;

  const Columns &columns;
  llvm::SmallVector<unsigned> used;
  std::unique_ptr<mlir::presburger::Simplex> simplex;
};

/// Whether the inequalities contradict each other.
bool isEmpty(const Columns &columns, llvm::ArrayRef<Row> inequalities);

/// Divides each row by its coefficients' divisor, drops the constant ones and keeps the tightest of
/// parallel rows. Returns false when a row can never hold.
bool normalize(llvm::SmallVectorImpl<Row> &inequalities);

/// Drops the inequalities that follow from the others and from `context`, longest first. One that
/// has no `guarded` column inside a division is kept unless it follows from others of its kind.
void dropRedundant(const Columns &columns, llvm::SmallVectorImpl<Row> &inequalities,
                   llvm::ArrayRef<Row> context, const llvm::BitVector &guarded);

/// The inequality with `guarded` columns moved out of a division where that is exact, as in
/// "x floordiv n >= k", which says "x >= n k".
Row liftDivision(Columns &columns, Row inequality, const llvm::BitVector &guarded);

/// The inequality with divisions of `guarded` columns replaced by their rational bounds: weaker,
/// and without such divisions.
Row relaxDivisions(const Columns &columns, Row inequality, const llvm::BitVector &guarded);

/// What a projection may grow to before its result becomes a superset.
struct ProjectionLimits {
  /// Polyhedra of the result.
  unsigned pieces = 12;
  /// Divisions of parameters that are made for it.
  unsigned divisions = 32;
};

/// Removes `unknowns`, of which no division may be left, from `polyhedron` and appends polyhedra,
/// inequalities only, whose union has exactly the remaining columns' values for which integer
/// unknowns exist. Returns false when the union is a superset, because of the limits. Without
/// meaning once `columns.isExhausted()`.
bool projectOut(Columns &columns, const llvm::BitVector &unknowns, Polyhedron polyhedron,
                const ProjectionLimits &limits, llvm::SmallVectorImpl<Polyhedron> &result);

} // namespace lacuna
