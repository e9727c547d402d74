//===- CodeWriter.h - lines and scopes of emitted C++ ---------------------===//
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <string>

namespace lacuna {

/// A finite float as a hexadecimal literal, which loses nothing.
inline std::string floatText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%a", value) << "f";
  return text;
}

/// Appends indented lines to a text.
class CodeWriter {
public:
  explicit CodeWriter(unsigned depth = 0) : depth(depth) {}

  void line(const llvm::Twine &text) {
    std::string one = text.str();
    if (!place.empty()) {
      out += place + '\n';
      // The next line would be one further in the spec.
      std::replace(one.begin(), one.end(), '\n', ' ');
    }
    out.append(2 * depth, ' ');
    out += one;
    out += '\n';
  }
  void blank() { out += '\n'; }
  void open(const llvm::Twine &text) {
    line(text);
    ++depth;
  }
  void close(const llvm::Twine &text = "}") {
    --depth;
    line(text);
  }
  /// After a close that opened another scope on its line.
  void reopen() { ++depth; }
  void append(llvm::StringRef text) { out += text.str(); }
  const std::string &str() const { return out; }

  /// A directive in front of every line from now on; none when empty.
  void setPlace(std::string directive) { place = std::move(directive); }
  const std::string &getPlace() const { return place; }

private:
  std::string place;
  std::string out;
  unsigned depth = 0;
};

} // namespace lacuna
