//===- KernelPrinter.h - one kernel as source and manifest ----------------===//
#pragma once

#include "compiler/Emit/CudaPrinter.h"
#include "compiler/Emit/ElementTypes.h"
#include "compiler/Emit/HostProgramBuilder.h"
#include "compiler/Emit/ScalarPrinter.h"

#include "llvm/ADT/SetVector.h"

namespace lacuna {

/// Attention: scalars and one planned `hopper.attend`.
mlir::FailureOr<KernelCode> printAttend(tile::KernelOp kernel, CudaOptions options);
/// Classes of the tiles of a set: scalars and `tile.classify`.
mlir::FailureOr<KernelCode> printClassify(tile::KernelOp kernel);
/// Summaries, scores and choices of blocks: scalars and one of those tile ops.
mlir::FailureOr<KernelCode> printSelect(tile::KernelOp kernel);
/// Rows that need no product: `tile.merge`, and the results of attention that sees no key.
mlir::FailureOr<KernelCode> printRows(tile::KernelOp kernel);
/// A conversion of lists.
mlir::FailureOr<KernelCode> printListFormat(tile::KernelOp kernel);

/// "Bf16": the device library's name of elements in memory.
mlir::StringRef elementName(mlir::Type type);

/// The argument number of a block argument.
inline unsigned inputOf(mlir::Value value) {
  return mlir::cast<mlir::BlockArgument>(value).getArgNumber();
}

/// One coordinate of an element of a box that starts at `origin`. The element's number is `high`,
/// or `high + low` with `high` a multiple of 8 and `low` less than 8 (the innermost extent is then
/// a multiple of 8 as well, so that `low` never carries).
std::string boxCoordinate(llvm::StringRef origin, llvm::StringRef high, llvm::StringRef low,
                          llvm::ArrayRef<int64_t> box, size_t axis);

/// What all kernels share: the plan as a host program, the argument struct, and where scalar code
/// gets its values from.
class KernelPrinter {
protected:
  explicit KernelPrinter(tile::KernelOp kernel) : kernel(kernel), host(code.manifest.host) {}

  /// "argument 'q'": how messages call an input or output.
  std::string describe(unsigned argument);
  /// Requirements, grid and outputs of the manifest.
  mlir::LogicalResult buildPlan();
  /// Declares a field of the argument struct; returns the expression that reads it.
  std::string field(mlir::StringRef name, ArgumentField field);
  std::string hostField(mlir::StringRef name, unsigned value) {
    return field(name, {ArgumentField::Kind::Integer, value});
  }
  /// The address of an input or output, and its distance between neighbours along an axis.
  std::string pointerOf(unsigned argument);
  std::string strideOf(unsigned argument, unsigned axis);
  /// The kernel's name and parts of the device library.
  void writeLibrary(CodeWriter &out, mlir::ArrayRef<std::string_view> parts);
  void writeArguments(CodeWriter &out);
  /// Where there is one block per point of the grid: names and binds the point's coordinates. Tiles
  /// have `tile` tokens along each axis.
  void writeGridPoint(CodeWriter &out, ScalarPrinter &scalars, mlir::ArrayRef<int64_t> tile);
  /// The kernel without tensor maps, of one block per point of the grid, whose body is `body`. With
  /// `blocks`, registers are given out so that this many blocks share a multiprocessor.
  mlir::FailureOr<KernelCode> finishPlain(unsigned threads, mlir::StringRef body,
                                          mlir::ArrayRef<std::string_view> parts,
                                          unsigned blocks = 0);
  /// The kernel whose text is `source`.
  mlir::FailureOr<KernelCode> finish(std::string source);
  /// Where an element of a box lies on its grid.
  struct BoxPlace {
    /// Whether the grid has it, and its number on the grid, as expressions.
    std::string inside, number;
  };
  /// Names the coordinates `letter`0, `letter`1, .. of element `row` of the box that starts at
  /// `at`.
  BoxPlace writeBoxPlace(CodeWriter &out, ScalarPrinter &scalars, mlir::StringRef letter,
                         mlir::StringRef row, mlir::ValueRange at, mlir::ValueRange sizes,
                         mlir::ArrayRef<int64_t> box);
  ScalarSources sources();
  std::string readElement(unsigned input, mlir::ArrayRef<std::string> indices);
  void addExtentLimits();

  tile::KernelOp kernel;
  KernelCode code;
  HostProgramBuilder host;
  mlir::SmallVector<std::pair<std::string, ArgumentField>> fields;
  /// Extents of inputs that the text takes for an int.
  llvm::SetVector<std::pair<unsigned, unsigned>> narrowExtents;
};

/// Prints an attention kernel. The manifest's part is in KernelManifest.cpp, the order of
/// items in ItemOrderPrinter.cpp, element functions in ElementPrinter.cpp and RecomputePrinter.cpp,
/// skips in SkipPrinter.cpp, the rest of the text in CudaPrinter.cpp.
class AttendPrinter : KernelPrinter {
public:
  AttendPrinter(tile::KernelOp kernel, CudaOptions options)
      : KernelPrinter(kernel), options(options) {}
  mlir::FailureOr<KernelCode> print();

private:
  CudaOptions options;
  /// A tensor map and how its coordinates follow from head and batch.
  struct Map {
    std::string name;
    /// Grids of three axes leave one axis for head and batch: its coordinate is their sum, each
    /// times its step. Empty when both have an axis.
    std::string headStep, batchStep;
  };
  /// Keys and values that one pair of maps describes, and the kinds of tiles that come from them.
  struct KeySegment {
    hopper::TileOp tile;
    mlir::SmallVector<unsigned> kinds;
    Map keys, values;
  };

  mlir::LogicalResult findAttend();
  mlir::LogicalResult findSegments();
  mlir::LogicalResult buildMaps();
  mlir::FailureOr<Map> addMap(mlir::StringRef name, mlir::Value tensor, mlir::ValueRange sizes,
                              mlir::Value base, mlir::ArrayRef<int64_t> box, int64_t heads = 1);
  void foldHeads(Map &map, TensorMapRecipe &recipe, unsigned argument);
  /// Host values of an extent or a stride of an input or output.
  unsigned extentOf(unsigned argument, unsigned axis);
  std::string copyCoordinates(const Map &map, mlir::ArrayRef<std::string> at, mlir::StringRef head,
                              mlir::StringRef batch) const;
  void bindGrid(ScalarPrinter &printer);

  void addLimits();
  void writePreamble(CodeWriter &out, mlir::StringRef functions);
  void writeItem(CodeWriter &out);
  mlir::LogicalResult writeWalk(CodeWriter &out);
  /// Whether the walk has loops as long as what it reads from tensors says.
  bool hasLists();
  mlir::LogicalResult writeLength(CodeWriter &out);
  int64_t getLongItems();
  bool writeChosenCopy(CodeWriter &out, ScalarPrinter &scalars, bool isKey);
  void writeKeyCopies(CodeWriter &out, ScalarPrinter &scalars);
  mlir::LogicalResult writeKeyRows(CodeWriter &out, ScalarPrinter &scalars);
  mlir::LogicalResult writeProducer(CodeWriter &out);
  /// A row of a tile within its head, and the row's head; `row` is an expression.
  std::string rowInHead(mlir::StringRef row);
  std::string headOfRow(ScalarPrinter &scalars, mlir::StringRef row);
  mlir::LogicalResult writeItemScalars(CodeWriter &out, ScalarPrinter &scalars,
                                       mlir::ArrayRef<mlir::Value> more);
  mlir::LogicalResult writeConsumer(CodeWriter &out);
  /// Where tiles may be skipped: `rows`, what a thread knows about the blocks of its rows.
  mlir::LogicalResult writeSkipRows(CodeWriter &out);
  struct ElementParts;
  void writeRowCoordinates(CodeWriter &out, ScalarPrinter &scalars, mlir::Block &block);
  mlir::LogicalResult writeLookups(CodeWriter &out, ScalarPrinter &scalars,
                                   const ElementParts &parts);
  mlir::LogicalResult writeGatheredPairs(CodeWriter &out, ScalarPrinter &scalars,
                                         const ElementParts &parts, size_t kind);
  mlir::LogicalResult writeKind(CodeWriter &out, ScalarPrinter &scalars, const ElementParts &parts,
                                size_t kind, mlir::ArrayRef<int64_t> keyBox);
  mlir::LogicalResult writeElements(CodeWriter &out, ScalarPrinter &scalars);
  mlir::LogicalResult writeFinish(CodeWriter &out, ScalarPrinter &scalars);
  /// Whether tiles of a kind change scores: not the identity's, nor those that the walk never
  /// names.
  bool changesScores(unsigned kind);
  /// What tiles of a kind add to all their scores, where that is a constant. The pipeline takes it
  /// to the row's maximum instead of to each score.
  std::optional<float> getOffset(unsigned kind);
  bool hasOffsets();
  /// Whether some tile may hold pairs that are not live.
  bool isMasked();
  /// The address of a row of channels in memory.
  std::string rowPointer(ScalarPrinter &scalars, mlir::Value tensor, mlir::StringRef batch,
                         mlir::StringRef head, mlir::Value base, mlir::StringRef token);
  mlir::LogicalResult writeRecompute(CodeWriter &out, ScalarPrinter &scalars);
  mlir::LogicalResult writePair(CodeWriter &out, ScalarPrinter &scalars, KeySegment &segment);
  mlir::LogicalResult writeKind(CodeWriter &out, ScalarPrinter &scalars, unsigned kind);

  hopper::AttendOp attend;
  std::vector<KeySegment> segments;
  Map queryMap, outputMap;
  mlir::SmallVector<std::string> mapNames;
  /// Arrays of looked-up values so far.
  unsigned lookupCount = 0;
};

} // namespace lacuna
