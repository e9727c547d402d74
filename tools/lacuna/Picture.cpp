//===- Picture.cpp - maps of live tiles as SVG ----------------------------===//
#include "tools/lacuna/Picture.h"

#include "lib/Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace lacuna::tool {

// Colours that remain apart in grey and for colour-blind readers.
static constexpr StringRef fullColour = "#1f4e8c", partialColour = "#f2a33a",
                           emptyColour = "#eef0f3";
static constexpr StringRef ink = "#222222", faint = "#8a8f98";

// Pixels.
static constexpr int64_t mapSide = 320, left = 78, top = 62, gap = 26, foot = 34, panelTop = 40;
static constexpr int64_t panelsPerRow = 3;

Panel Panel::shrunk(int64_t limit) const {
  int64_t rowStep = std::max<int64_t>(1, divideCeil(rows, limit));
  int64_t columnStep = std::max<int64_t>(1, divideCeil(columns, limit));
  Panel result = *this;
  result.rows = divideCeil(rows, rowStep);
  result.columns = divideCeil(columns, columnStep);
  result.cells.assign(result.rows * result.columns, Cell::Empty);
  std::vector<bool> seen(result.cells.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      int64_t target = row / rowStep * result.columns + column / columnStep;
      Cell &cell = result.cells[target];
      cell = !seen[target] || cell == at(row, column) ? at(row, column) : Cell::Partial;
      seen[target] = true;
    }
  result.query.unit *= rowStep;
  result.key.unit *= columnStep;
  for (int64_t &border : result.query.borders)
    border /= rowStep;
  for (int64_t &border : result.key.borders)
    border /= columnStep;
  return result;
}

static std::string escaped(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  printHTMLEscaped(text, os);
  return result;
}

/// 1, 2 or 5 times a power of ten (of two for large powers of two), at most five steps to `end`.
static int64_t tickStep(int64_t end) {
  if (end >= 64 && end % (end / 4) == 0 && isPowerOf2_64(end))
    return end / 4;
  double raw = std::max<double>(1, static_cast<double>(end) / 5);
  double power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0, 10.0})
    if (factor * power >= raw)
      return static_cast<int64_t>(factor * power);
  return end;
}

namespace {
/// Draws one panel whose map's upper left corner is at (x, y).
class PanelWriter {
public:
  PanelWriter(const Panel &panel, bool elements, int64_t x, int64_t y, raw_ostream &os)
      : panel(panel), elements(elements), x(x), y(y), os(os) {
    // Both axes have one scale, so that diagonals look like diagonals.
    double rowEnd = static_cast<double>(panel.rows), columnEnd = static_cast<double>(panel.columns);
    double rowTokens = rowEnd * static_cast<double>(panel.query.unit);
    double columnTokens = columnEnd * static_cast<double>(panel.key.unit);
    double longest = std::max({rowTokens, columnTokens, 1.0});
    // Whole pixels per cell keep the seams between cells even.
    double side = mapSide;
    if (double cells = longest / static_cast<double>(panel.query.unit);
        panel.query.unit == panel.key.unit && side / cells >= 3)
      side = std::floor(side / cells) * cells;
    // A very flat map still needs room to be seen.
    height = std::max(side * rowTokens / longest, side / 8);
    width = std::max(side * columnTokens / longest, side / 8);
    cellHeight = panel.rows ? height / rowEnd : height;
    cellWidth = panel.columns ? width / columnEnd : width;
  }

  void write() {
    os << formatv("<text class='panel' x='{0}' y='{1}'>{2}</text>\n", x, y - 38,
                  escaped(panel.title));
    os << formatv("<rect x='{0}' y='{1}' width='{2:F2}' height='{3:F2}' fill='{4}'/>\n", x, y,
                  width, height, emptyColour);
    writeCells();
    writeAxes();
  }

private:
  /// Neighbours of one class in a row are one rectangle.
  void writeCells() {
    for (Cell drawn : {Cell::Partial, Cell::Full}) {
      os << "<path fill='" << (drawn == Cell::Full ? fullColour : partialColour) << "' d='";
      for (int64_t row = 0; row < panel.rows; ++row)
        for (int64_t column = 0; column < panel.columns; ++column) {
          if (panel.at(row, column) != drawn)
            continue;
          int64_t first = column;
          while (column < panel.columns && panel.at(row, column) == drawn)
            ++column;
          writeRun(row, first, column);
        }
      os << "'/>\n";
    }
  }

  void writeRun(int64_t row, int64_t first, int64_t end) {
    // Cells that are large enough to be told apart get a seam.
    double seam = !elements && cellWidth >= 5 && cellHeight >= 5 ? 0.6 : 0;
    int64_t step = seam > 0 ? 1 : end - first;
    for (int64_t column = first; column < end; column += step)
      os << formatv("M{0:F2} {1:F2}h{2:F2}v{3:F2}h-{2:F2}z", x + cellWidth * column,
                    y + cellHeight * row, cellWidth * step - seam, cellHeight - seam);
  }

  void writeAxes() {
    os << formatv("<rect class='frame' x='{0}' y='{1}' width='{2:F2}' height='{3:F2}'/>\n", x, y,
                  width, height);
    for (int64_t border : panel.query.borders)
      os << formatv("<path class='border' d='M{0} {1:F2}h{2:F2}'/>\n", x, y + cellHeight * border,
                    width);
    for (int64_t border : panel.key.borders)
      os << formatv("<path class='border' d='M{0:F2} {1}v{2:F2}'/>\n", x + cellWidth * border, y,
                    height);
    writeTicks(panel.key, width, cellWidth, [&](double at, StringRef label) {
      os << formatv("<path class='tick' d='M{0:F2} {1}v-4'/>"
                    "<text class='number' x='{0:F2}' y='{2}' text-anchor='middle'>{3}</text>\n",
                    x + at, y, y - 7, label);
    });
    writeTicks(panel.query, height, cellHeight, [&](double at, StringRef label) {
      os << formatv("<path class='tick' d='M{0} {1:F2}h-4'/>"
                    "<text class='number' x='{2}' y='{3:F2}' text-anchor='end'>{4}</text>\n",
                    x, y + at, x - 7, y + at + 3.5, label);
    });
    os << formatv("<text class='axis' x='{0:F2}' y='{1}' text-anchor='middle'>{2}</text>\n",
                  x + width / 2, y - 21, escaped(panel.key.title));
    os << formatv("<text class='axis' text-anchor='middle' transform='translate({0} {1:F2}) "
                  "rotate(-90)'>{2}</text>\n",
                  x - 52, y + height / 2, escaped(panel.query.title));
  }

  void writeTicks(const Axis &axis, double extent, double cell,
                  function_ref<void(double, StringRef)> write) {
    int64_t step = tickStep(axis.end);
    for (int64_t value = 0; value <= axis.end; value += step) {
      double at = cell * static_cast<double>(value) / static_cast<double>(axis.unit);
      if (at <= extent + 0.5)
        write(at, groupedText(value));
    }
  }

  const Panel &panel;
  bool elements;
  int64_t x, y;
  raw_ostream &os;
  double width, height, cellWidth, cellHeight;
};
} // namespace

static void writeLegend(const Picture &picture, int64_t y, raw_ostream &os) {
  struct Entry {
    StringRef colour;
    std::string label;
  };
  SmallVector<Entry> entries;
  if (picture.elements)
    entries = {{fullColour, "live pair"}, {emptyColour, "dead pair"}};
  else
    entries = {{fullColour, "full tile: every pair is live, no mask"},
               {partialColour, "partial tile: masked"},
               {emptyColour, "empty tile: never visited"}};
  int64_t x = left;
  for (const Entry &entry : entries) {
    os << formatv("<rect x='{0}' y='{1}' width='11' height='11' fill='{2}' stroke='{3}' "
                  "stroke-width='0.4'/><text class='number' x='{4}' y='{5}'>{6}</text>\n",
                  x, y, entry.colour, faint, x + 16, y + 9.5, escaped(entry.label));
    x += 34 + 6 * static_cast<int64_t>(entry.label.size());
  }
}

std::string Picture::svg() const {
  std::string text;
  raw_string_ostream os(text);
  int64_t count = static_cast<int64_t>(panels.size());
  int64_t perRow = count == 4 ? 2 : std::clamp<int64_t>(count, 1, panelsPerRow);
  int64_t panelRows = divideCeil(std::max<int64_t>(count, 1), perRow);
  int64_t pitchX = mapSide + left + gap, pitchY = mapSide + panelTop + gap;
  int64_t width = std::max<int64_t>(perRow * pitchX, 640), height = top + panelRows * pitchY + foot;
  os << formatv("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' viewBox='0 0 {0} "
                "{1}' role='img'>\n",
                width, height);
  os << "<title>" << escaped(title) << "</title>\n<desc>" << escaped(subtitle) << "</desc>\n";
  os << "<style>text{font-family:system-ui,Helvetica,Arial,sans-serif;fill:" << ink
     << "}.title{font-size:16px;font-weight:600}.subtitle,.axis{font-size:11.5px}"
        ".panel{font-size:12px;font-weight:600}.number{font-size:10px}"
        ".tick,.border{stroke:"
     << faint << ";fill:none}.border{stroke-dasharray:3 2}.frame{fill:none;stroke:" << ink
     << ";stroke-width:0.7}path,rect{shape-rendering:crispEdges}</style>\n";
  os << "<rect width='100%' height='100%' fill='#ffffff'/>\n";
  os << formatv("<text class='title' x='{0}' y='26'>{1}</text>\n", 20, escaped(title));
  os << formatv("<text class='subtitle' x='{0}' y='44'>{1}</text>\n", 20, escaped(subtitle));
  for (auto [index, panel] : enumerate(panels)) {
    int64_t column = static_cast<int64_t>(index) % perRow,
            row = static_cast<int64_t>(index) / perRow;
    PanelWriter(panel, elements, left + column * pitchX, top + panelTop + row * pitchY, os).write();
  }
  writeLegend(*this, height - 26, os);
  os << "</svg>\n";
  return text;
}

std::string Picture::html() const {
  return "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'><title>" + escaped(title) +
         "</title></head>\n<body style='margin:2em'>\n" + svg() + "</body>\n</html>\n";
}

} // namespace lacuna::tool
