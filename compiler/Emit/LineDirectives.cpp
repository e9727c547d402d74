//===- LineDirectives.cpp - from emitted lines back to those of the spec --===//
#include "compiler/Emit/LineDirectives.h"

using namespace mlir;

std::string lacuna::lineDirective(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place || place.getLine() == 0)
    return {};
  std::string text = "#line " + std::to_string(place.getLine()) + " \"";
  for (char c : place.getFilename().strref()) {
    // What ends a string, or a line, would end the directive.
    if (c == '"' || c == '\\')
      text += '\\';
    text += c == '\n' ? ' ' : c;
  }
  return text + '"';
}
