//===- Program.cpp - what a compiled spec takes and gives ------------------===//
#include "bindings/C/Handles.h"

#include "lib/Artifact/HostProgram.h"

#include <fmt/format.h>
#include <functional>

using namespace lacuna;
using namespace lacuna::c;

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

/// Host value `index` in prefix form. Values used twice are written twice.
static std::string formulaText(const HostProgram &code, unsigned index) {
  using Op = HostInstruction::Op;
  const HostInstruction &instruction = code.code[index];
  auto operand = [&](int64_t value) { return formulaText(code, static_cast<unsigned>(value)); };
  switch (instruction.op) {
  case Op::Constant:
    return fmt::format("{}", instruction.a);
  case Op::Extent:
  case Op::Stride:
    return fmt::format("({} {} {})", toString(instruction.op), instruction.a, instruction.b);
  case Op::Scalar:
    return fmt::format("(scalar {})", instruction.a);
  case Op::Select:
    return fmt::format("(select {} {} {})", operand(instruction.a), operand(instruction.b),
                       operand(instruction.c));
  default:
    return fmt::format("({} {} {})", toString(instruction.op), operand(instruction.a),
                       operand(instruction.b));
  }
}

/// Characters that `formulaText` writes for each value, up to a little more than `most`.
static std::vector<size_t> formulaLengths(const HostProgram &code, size_t most) {
  std::vector<size_t> lengths;
  // The longest operation, two numbers of 64 bits and what stands around them.
  constexpr size_t own = 64;
  for (const HostInstruction &instruction : code.code) {
    size_t length = own;
    const int64_t operands[] = {instruction.a, instruction.b, instruction.c};
    for (unsigned i = 0; i < operandCount(instruction.op); ++i)
      length += lengths[static_cast<size_t>(operands[i])];
    lengths.push_back(std::min(length, most + 1));
  }
  return lengths;
}

/// Refuses formulas that nobody could use: a value that is used twice is written twice, twice as
/// often one level up, and so on.
static Status checkFormulas(const ResultShapes &shapes) {
  constexpr size_t longest = 1 << 16, mostTogether = 1 << 18;
  std::vector<size_t> lengths = formulaLengths(shapes.code, longest);
  size_t together = 0;
  for (const ResultDeclaration &result : shapes.results)
    for (unsigned extent : result.extents)
      if (lengths[extent] > longest || (together += lengths[extent]) > mostTogether)
        return Status::error(StatusCode::Unsupported,
                             fmt::format("result '{}': expected shapes whose formulas have at most "
                                         "{} characters",
                                         result.name, longest));
  return Status::ok();
}

Result<lacuna_program *> lacuna::c::makeProgram(std::shared_ptr<ContextState> context,
                                                Artifact artifact) {
  Result<ResultShapes> shapes = ResultShapes::of(artifact.program);
  if (!shapes)
    return shapes.status();
  if (Status status = checkFormulas(*shapes); !status)
    return status;
  auto *made = new lacuna_program{std::move(context),
                                  std::move(artifact.program),
                                  std::move(artifact.origin),
                                  std::move(*shapes),
                                  {}};
  for (const ResultDeclaration &result : made->shapes.results) {
    std::vector<std::string> &texts = made->extents.emplace_back();
    for (unsigned extent : result.extents)
      texts.push_back(formulaText(made->shapes.code, extent));
  }
  return made;
}

/// Hands the program of the artifact that `read` finds in `source` to the caller.
static lacuna_status giveArtifact(lacuna_context *context, const void *source,
                                  const std::function<Result<Artifact>()> &read,
                                  lacuna_program **program, lacuna_error **error) {
  if (Status status = checkPointers({{program, "a place for the program"}}); !status)
    return finish(status, error);
  *program = nullptr;
  if (Status status = checkPointers({{context, "a context"}, {source, "an artifact"}}); !status)
    return finish(status, error);
  Result<Artifact> artifact = read();
  if (!artifact)
    return finish(artifact.status(), error);
  Result<lacuna_program *> made = makeProgram(context->state, std::move(*artifact));
  if (!made)
    return finish(made.status(), error);
  context->state->count(Counter::ArtifactsRead);
  *program = *made;
  return finish(Status::ok(), error);
}

lacuna_status lacuna_program_open(lacuna_context *context, const char *path,
                                  lacuna_program **program, lacuna_error **error) {
  return giveArtifact(context, path, [&] { return loadArtifact(path); }, program, error);
}

lacuna_status lacuna_program_read(lacuna_context *context, const void *bytes, size_t size,
                                  lacuna_program **program, lacuna_error **error) {
  auto read = [&] { return readArtifact({static_cast<const char *>(bytes), size}); };
  return giveArtifact(context, bytes, read, program, error);
}

/// Writes the artifact of `program`, compiled first where `isCompiled` wants that.
static Status save(const lacuna_program &program, const char *path, bool isCompiled) {
  if (program.program.native)
    return Status::error(StatusCode::Unsupported,
                         fmt::format("'{}': expected a program for a GPU, got one whose code is "
                                     "part of this process",
                                     path));
  Artifact artifact;
  artifact.program = program.program;
  artifact.origin = program.origin;
  if (isCompiled)
    if (Status status = compileAhead(artifact.program, program.context->gpu); !status)
      return status;
  return saveArtifact(path, artifact);
}

lacuna_status lacuna_program_save(const lacuna_program *program, const char *path,
                                  lacuna_error **error) {
  if (Status status = checkPointers({{program, "a program"}, {path, "a path"}}); !status)
    return finish(status, error);
  return finish(save(*program, path, /*isCompiled=*/false), error);
}

lacuna_status lacuna_program_save_compiled(const lacuna_program *program, const char *path,
                                           lacuna_error **error) {
  if (Status status = checkPointers({{program, "a program"}, {path, "a path"}}); !status)
    return finish(status, error);
  return finish(save(*program, path, /*isCompiled=*/true), error);
}

void lacuna_program_release(lacuna_program *program) { delete program; }

//===----------------------------------------------------------------------===//
// Asking about one
//===----------------------------------------------------------------------===//

const char *lacuna_program_name(const lacuna_program *program) {
  return program ? program->program.name.c_str() : nullptr;
}

const char *lacuna_program_architecture(const lacuna_program *program) {
  return program ? program->program.architecture.c_str() : nullptr;
}

size_t lacuna_program_argument_count(const lacuna_program *program) {
  return program ? program->program.arguments.size() : 0;
}

size_t lacuna_program_result_count(const lacuna_program *program) {
  return program ? program->shapes.results.size() : 0;
}

/// Writes the members that the caller's struct has.
static lacuna_status giveInfo(const lacuna_value_info &full, lacuna_value_info *info,
                              lacuna_error **error) {
  uint32_t size = info->struct_size;
  if (size < sizeof(uint32_t))
    return finish(checkStructSize(size, sizeof(full), info, "value info"), error);
  std::memcpy(info, &full, std::min<size_t>(size, sizeof(full)));
  info->struct_size = size;
  return finish(Status::ok(), error);
}

static lacuna_status refuseIndex(size_t index, size_t count, lacuna_error **error) {
  return finish(Status::error(StatusCode::InvalidArgument,
                              fmt::format("expected a number below {}, got {}", count, index)),
                error);
}

lacuna_status lacuna_program_argument(const lacuna_program *program, size_t index,
                                      lacuna_value_info *info, lacuna_error **error) {
  if (Status status = checkPointers({{program, "a program"}, {info, "a value info"}}); !status)
    return finish(status, error);
  const std::vector<ArgumentDeclaration> &arguments = program->program.arguments;
  if (index >= arguments.size())
    return refuseIndex(index, arguments.size(), error);
  const ArgumentDeclaration &declared = arguments[index];
  lacuna_value_info full = {};
  full.name = declared.name.c_str();
  switch (declared.kind) {
  case ArgumentDeclaration::Kind::Tensor:
    full.kind = LACUNA_TENSOR;
    full.shape = declared.shape.data();
    full.rank = static_cast<int32_t>(declared.shape.size());
    full.dtype = toDlpack(declared.type);
    break;
  case ArgumentDeclaration::Kind::Integer:
    full.kind = LACUNA_INTEGER;
    break;
  case ArgumentDeclaration::Kind::Float:
    full.kind = LACUNA_FLOAT;
    break;
  }
  return giveInfo(full, info, error);
}

lacuna_status lacuna_program_result(const lacuna_program *program, size_t index,
                                    lacuna_value_info *info, lacuna_error **error) {
  if (Status status = checkPointers({{program, "a program"}, {info, "a value info"}}); !status)
    return finish(status, error);
  const std::vector<ResultDeclaration> &results = program->shapes.results;
  if (index >= results.size())
    return refuseIndex(index, results.size(), error);
  const ResultDeclaration &declared = results[index];
  lacuna_value_info full = {};
  full.kind = LACUNA_TENSOR;
  full.name = declared.name.c_str();
  full.shape = declared.shape.data();
  full.rank = static_cast<int32_t>(declared.shape.size());
  full.dtype = toDlpack(declared.type);
  return giveInfo(full, info, error);
}

const char *lacuna_program_result_extent(const lacuna_program *program, size_t result,
                                         size_t axis) {
  if (!program || result >= program->extents.size() || axis >= program->extents[result].size())
    return nullptr;
  return program->extents[result][axis].c_str();
}
