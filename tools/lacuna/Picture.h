//===- Picture.h - maps of live tiles as SVG ------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lacuna::tool {

/// What one cell shows.
enum class Cell : uint8_t { Empty, Partial, Full };

/// One axis of a panel.
struct Axis {
  std::string title;
  /// Tick labels are `unit` times the cell's number: tokens per cell, or 1 for numbers of tiles.
  int64_t unit = 1;
  /// Where the axis ends, in units of the labels; it may lie inside the last cell.
  int64_t end = 0;
  /// Cells at which a segment of the domain begins, other than the first.
  std::vector<int64_t> borders;
};

/// One map: rows are queries, columns keys.
struct Panel {
  std::string title;
  int64_t rows = 0, columns = 0;
  /// Row-major.
  std::vector<Cell> cells;
  Axis query, key;

  Cell at(int64_t row, int64_t column) const { return cells[row * columns + column]; }
  /// The same map with at most `limit` cells along each axis. A cell that covers different classes
  /// is partial.
  Panel shrunk(int64_t limit) const;
};

/// Panels side by side under a title, with one legend.
struct Picture {
  std::string title, subtitle;
  /// Whether cells are pairs, which are live or not, rather than tiles.
  bool elements = false;
  std::vector<Panel> panels;

  std::string svg() const;
  /// A page that holds the picture.
  std::string html() const;
};

} // namespace lacuna::tool
