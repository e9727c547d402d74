//===- Npy.cpp - tensors in NumPy's file format ----------------------------===//
#include "lib/Support/Npy.h"

#include "lib/Support/File.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>

namespace lacuna {

static constexpr std::string_view magic("\x93NUMPY", 6);

namespace {
/// What the header's dictionary says.
struct Header {
  ElementType type = ElementType::F32;
  bool fortran = false;
  std::vector<int64_t> shape;
};

/// Reads the Python dictionary of a header: three known keys, in any order.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &name) : rest(text), name(name) {}
  Result<Header> parse();

private:
  Status corrupt(std::string_view what) const {
    return Status::error(StatusCode::Corrupt,
                         fmt::format("expected {} in the header of {}", what, name));
  }
  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size())); }
  /// Whether `text` comes next; it is consumed.
  bool accept(std::string_view text);
  std::optional<std::string_view> acceptString();
  Status parseType(std::string_view descriptor);
  Status parseShape();
  /// One `key: value`.
  Status parseEntry();

  std::string_view rest;
  const std::string &name;
  Header header;
  bool hasType = false, hasOrder = false, hasShape = false;
};
} // namespace

bool HeaderParser::accept(std::string_view text) {
  skipSpace();
  if (rest.substr(0, text.size()) != text)
    return false;
  rest.remove_prefix(text.size());
  return true;
}

std::optional<std::string_view> HeaderParser::acceptString() {
  skipSpace();
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return std::nullopt;
  size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return text;
}

Status HeaderParser::parseType(std::string_view descriptor) {
  static constexpr std::pair<std::string_view, ElementType> types[] = {
      {"<f2", ElementType::F16},  {"<f4", ElementType::F32},  {"<f8", ElementType::F64},
      {"|i1", ElementType::I8},   {"<i1", ElementType::I8},   {"<i4", ElementType::I32},
      {"<i8", ElementType::I64},  {"|V2", ElementType::BF16}, {"<V2", ElementType::BF16},
      {"<u2", ElementType::BF16},
  };
  for (auto [spelling, type] : types)
    if (descriptor == spelling) {
      header.type = type;
      return Status::ok();
    }
  if (!descriptor.empty() && descriptor.front() == '>')
    return Status::error(
        StatusCode::Unsupported,
        fmt::format("expected little-endian elements in {}, got '{}'", name, descriptor));
  return Status::error(StatusCode::Unsupported,
                       fmt::format("expected elements of type f2, f4, f8, i1, i4, i8, V2 or u2 in "
                                   "{}, got '{}'",
                                   name, descriptor));
}

Status HeaderParser::parseShape() {
  if (!accept("("))
    return corrupt("a shape");
  while (!accept(")")) {
    skipSpace();
    int64_t extent = 0;
    size_t digits = 0;
    for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(extent, 10, &extent) ||
          __builtin_add_overflow(extent, rest[digits] - '0', &extent))
        return corrupt("extents below 2^63");
    if (digits == 0)
      return corrupt("a shape");
    rest.remove_prefix(digits);
    header.shape.push_back(extent);
    if (!accept(",") && rest.substr(0, 1) != ")")
      return corrupt("a shape");
  }
  return Status::ok();
}

Status HeaderParser::parseEntry() {
  std::optional<std::string_view> key = acceptString();
  if (!key || !accept(":"))
    return corrupt("a key");
  if (*key == "descr") {
    std::optional<std::string_view> descriptor = acceptString();
    hasType = true;
    return descriptor ? parseType(*descriptor) : corrupt("one element type");
  }
  if (*key == "fortran_order") {
    hasOrder = true;
    header.fortran = accept("True");
    return header.fortran || accept("False") ? Status::ok() : corrupt("True or False");
  }
  if (*key == "shape") {
    hasShape = true;
    return parseShape();
  }
  return corrupt("the keys descr, fortran_order and shape");
}

Result<Header> HeaderParser::parse() {
  if (!accept("{"))
    return corrupt("a dictionary");
  while (!accept("}")) {
    if (Status status = parseEntry(); !status)
      return status;
    if (!accept(",")) {
      skipSpace();
      if (rest.substr(0, 1) != "}")
        return corrupt("a comma");
    }
  }
  if (!hasType || !hasOrder || !hasShape)
    return corrupt("the keys descr, fortran_order and shape");
  return header;
}

/// Bytes of all elements, or nothing when the number does not fit 63 bits.
static std::optional<size_t> dataSize(const Header &header) {
  int64_t size = byteWidth(header.type);
  if (std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end())
    return 0;
  for (int64_t extent : header.shape)
    if (__builtin_mul_overflow(size, extent, &size))
      return std::nullopt;
  return static_cast<size_t>(size);
}

Result<OwnedTensor> parseNpy(const std::string &bytes, const std::string &name) {
  std::string_view text = bytes;
  if (text.substr(0, magic.size()) != magic)
    return Status::error(StatusCode::Corrupt,
                         fmt::format("expected {} to begin with the magic of a .npy file", name));
  auto truncated = [&] {
    return Status::error(StatusCode::Corrupt,
                         fmt::format("expected more than {} bytes in {}", bytes.size(), name));
  };
  if (text.size() < 8)
    return truncated();
  int version = static_cast<unsigned char>(text[6]);
  if (version != 1 && version != 2)
    return Status::error(StatusCode::Unsupported,
                         fmt::format("expected .npy version 1 or 2 in {}, got {}", name, version));
  size_t sizeBytes = version == 1 ? 2 : 4;
  if (text.size() < 8 + sizeBytes)
    return truncated();
  size_t headerSize = 0;
  for (size_t byte = 0; byte < sizeBytes; ++byte)
    headerSize |= static_cast<size_t>(static_cast<unsigned char>(text[8 + byte])) << (8 * byte);
  size_t begin = 8 + sizeBytes;
  if (text.size() - begin < headerSize)
    return truncated();
  Result<Header> header = HeaderParser(text.substr(begin, headerSize), name).parse();
  if (!header)
    return header.status();

  size_t found = text.size() - begin - headerSize;
  std::optional<size_t> expected = dataSize(*header);
  if (!expected || found != *expected)
    return Status::error(StatusCode::Corrupt,
                         fmt::format("expected {} bytes of elements for shape {} in {}, got {}",
                                     expected ? std::to_string(*expected) : "more than 2^63",
                                     shapeText(header->shape), name, found));
  OwnedTensor tensor(header->type, header->shape);
  if (found > 0)
    std::memcpy(tensor.view().data, text.data() + begin + headerSize, found);
  if (header->fortran) {
    int64_t step = 1;
    for (size_t axis = 0; axis < header->shape.size(); ++axis) {
      tensor.view().strides[axis] = step;
      step *= header->shape[axis];
    }
  }
  return tensor;
}

Result<OwnedTensor> readNpy(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.status();
  return parseNpy(*bytes, path);
}

static const char *descriptor(ElementType type) {
  switch (type) { // No default: a new enumerator must break this build.
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "|V2";
  case ElementType::F32:
    return "<f4";
  case ElementType::F64:
    return "<f8";
  case ElementType::I8:
    return "|i1";
  case ElementType::I32:
    return "<i4";
  case ElementType::I64:
    return "<i8";
  }
  return "";
}

std::string formatNpy(const Tensor &tensor) {
  std::string shape;
  for (int64_t extent : tensor.shape)
    shape += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descriptor(tensor.type), shape);
  // Elements begin at a multiple of 64 bytes; the header ends with a newline.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  OwnedTensor packed = OwnedTensor::clone(tensor);
  bytes.append(static_cast<const char *>(packed.view().data),
               static_cast<size_t>(tensor.elements()) * byteWidth(tensor.type));
  return bytes;
}

Status writeNpy(const std::string &path, const Tensor &tensor) {
  return writeFile(path, formatNpy(tensor));
}

} // namespace lacuna
