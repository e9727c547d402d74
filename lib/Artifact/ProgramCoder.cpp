//===- ProgramCoder.cpp - programs as bytes --------------------------------===//
//
// Every function names all members of its type, so that a new member does not compile until it has
// a place here. A change of any of them needs a new `artifactVersion`.
//
//===----------------------------------------------------------------------===//
#include "lib/Artifact/ProgramCoder.h"

#include "lib/Artifact/ByteCoder.h"

namespace lacuna {

template <typename Coder, typename T> using Value = typename Coder::template Value<T>;

template <typename Coder, typename Numbers> static void codeNumbers(Coder &coder, Numbers &values) {
  coder.list(values, [&](auto &value) { coder.integer(value); });
}

template <typename Coder, typename Values> static void codeList(Coder &coder, Values &values) {
  coder.list(values, [&](auto &value) { code(coder, value); });
}

template <typename Coder> static void codeType(Coder &coder, Value<Coder, ElementType> &type) {
  coder.enumeration(type, ElementType::I64, "an element type");
}

template <typename Coder>
static void code(Coder &coder, Value<Coder, HostInstruction> &instruction) {
  auto &[op, a, b, c] = instruction;
  coder.enumeration(op, HostInstruction::Op::Select, "a host operation");
  coder.integer(a);
  coder.integer(b);
  coder.integer(c);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, Requirement> &requirement) {
  auto &[value, message, values] = requirement;
  coder.integer(value);
  coder.text(message);
  codeNumbers(coder, values);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, ArgumentField> &field) {
  auto &[kind, index] = field;
  coder.enumeration(kind, ArgumentField::Kind::WorkCounter, "a kind of field");
  coder.integer(index);
}

template <typename Coder>
static void code(Coder &coder, Value<Coder, TensorMapRecipe::Axis> &axis) {
  auto &[extent, stride, box] = axis;
  coder.integer(extent);
  coder.integer(stride);
  coder.integer(box);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, TensorMapRecipe> &map) {
  auto &[tensor, axes, swizzle, base] = map;
  coder.integer(tensor);
  codeList(coder, axes);
  coder.enumeration(swizzle, TensorMapRecipe::Swizzle::Bytes128, "a swizzle");
  coder.optional(base);
}

template <typename Coder>
static void code(Coder &coder, Value<Coder, KernelManifest::Output> &output) {
  auto &[type, extents] = output;
  codeType(coder, type);
  codeNumbers(coder, extents);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, KernelManifest> &manifest) {
  auto &[symbol, threads, sharedBytes, host, requirements, grid, blocksPerMultiprocessor, maps,
         fields, inputs, outputs] = manifest;
  auto &[hostCode] = host;
  coder.text(symbol);
  coder.integer(threads);
  coder.integer(sharedBytes);
  codeList(coder, hostCode);
  codeList(coder, requirements);
  codeNumbers(coder, grid);
  coder.integer(blocksPerMultiprocessor);
  codeList(coder, maps);
  codeList(coder, fields);
  coder.integer(inputs);
  codeList(coder, outputs);
}

/// Source and machine code are sections of their own.
template <typename Coder> static void code(Coder &coder, Value<Coder, KernelCode> &kernel) {
  auto &[manifest, source, cubin] = kernel;
  code(coder, manifest);
}

template <typename Coder>
static void code(Coder &coder, Value<Coder, ArgumentDeclaration> &argument) {
  auto &[name, kind, type, shape] = argument;
  coder.text(name);
  coder.enumeration(kind, ArgumentDeclaration::Kind::Float, "a kind of argument");
  codeType(coder, type);
  codeNumbers(coder, shape);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, Launch> &launch) {
  auto &[kernel, inputs, into] = launch;
  coder.integer(kernel);
  codeNumbers(coder, inputs);
  codeNumbers(coder, into);
}

template <typename Coder> static void code(Coder &coder, Value<Coder, Program> &program) {
  // Code of one process is not part of files.
  auto &[name, architecture, arguments, kernels, launches, results, resultNames, native] = program;
  coder.text(name);
  coder.text(architecture);
  codeList(coder, arguments);
  codeList(coder, kernels);
  codeList(coder, launches);
  codeNumbers(coder, results);
  coder.list(resultNames, [&](auto &resultName) { coder.text(resultName); });
}

template <typename Coder> static void code(Coder &coder, Value<Coder, ArtifactOrigin> &origin) {
  auto &[specDigest, irDigest, spec, options, compiler] = origin;
  coder.text(specDigest);
  coder.text(irDigest);
  coder.text(spec);
  coder.text(options);
  coder.text(compiler);
}

template <typename T> static std::string write(const T &value) {
  ByteWriter writer;
  code(writer, value);
  return std::move(writer.bytes);
}

template <typename T> static Result<T> read(std::string_view bytes) {
  ByteReader reader(bytes);
  T value;
  code(reader, value);
  if (Status status = reader.finish(); !status)
    return status;
  return value;
}

std::string writeProgram(const Program &program) { return write(program); }
Result<Program> readProgram(std::string_view bytes) { return read<Program>(bytes); }
std::string writeOrigin(const ArtifactOrigin &origin) { return write(origin); }
Result<ArtifactOrigin> readOrigin(std::string_view bytes) { return read<ArtifactOrigin>(bytes); }

} // namespace lacuna
