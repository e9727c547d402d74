//===- LineDirectives.h - from emitted lines back to those of the spec ----===//
#pragma once

#include "compiler/Emit/CodeWriter.h"

#include "mlir/IR/Location.h"

namespace lacuna {

/// `#line 7 "spec.mlir"` for the place in a file that `loc` names; empty when it names none.
std::string lineDirective(mlir::Location loc);

/// While it lives, lines of a writer that names places name that of an op.
class PlaceScope {
public:
  PlaceScope(CodeWriter &code, mlir::Location loc) : code(code), before(code.getPlace()) {
    if (!before.empty())
      if (std::string place = lineDirective(loc); !place.empty())
        code.setPlace(std::move(place));
  }
  PlaceScope(const PlaceScope &) = delete;
  PlaceScope &operator=(const PlaceScope &) = delete;
  ~PlaceScope() { code.setPlace(std::move(before)); }

private:
  CodeWriter &code;
  std::string before;
};

} // namespace lacuna
