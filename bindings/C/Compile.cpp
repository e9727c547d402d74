//===- Compile.cpp - specs to programs -------------------------------------===//
#include "bindings/C/Handles.h"

#include "lacuna/Compiler.h"
#include "lacuna/Runtime.h"

#include <fmt/format.h>

using namespace lacuna;
using namespace lacuna::c;

int32_t lacuna_has_compiler(void) { return 1; }

static Result<CompileOptions> readPlan(const lacuna_compile_options *given) {
  lacuna_compile_options read = LACUNA_COMPILE_OPTIONS_INIT;
  if (Status status = readOptions(given, read, "compile options"); !status)
    return status;
  if (read.target != kDLCUDA && read.target != kDLCPU)
    return Status::error(
        StatusCode::InvalidArgument,
        fmt::format("compile options: expected target kDLCUDA or kDLCPU, got {}", read.target));
  constexpr uint64_t known = LACUNA_PING_PONG | LACUNA_LINE_INFO;
  if (read.flags & ~known)
    return Status::error(StatusCode::Unsupported,
                         fmt::format("compile options: expected flags that version {} knows, got "
                                     "{:#x}",
                                     lacuna_version_text(), read.flags));
  for (auto [tile, count] : {std::pair(read.query_tile, read.query_tile_count),
                             std::pair(read.key_tile, read.key_tile_count)})
    if (count > 0 && !tile)
      return Status::error(
          StatusCode::InvalidArgument,
          fmt::format("compile options: expected {} extents of tiles, got null", count));
  CompileOptions options;
  options.target = read.target == kDLCUDA ? Target::Cuda : Target::Cpu;
  options.queryTile.assign(read.query_tile, read.query_tile + read.query_tile_count);
  options.keyTile.assign(read.key_tile, read.key_tile + read.key_tile_count);
  options.stages = read.stages;
  options.querySlots = read.query_slots;
  options.consumerRegisters = read.consumer_registers;
  options.pingPong = read.flags & LACUNA_PING_PONG;
  options.lineInfo = read.flags & LACUNA_LINE_INFO;
  return options;
}

static Result<lacuna_program *> compile(lacuna_context *context, std::string_view text,
                                        const lacuna_compile_options *given) {
  Result<CompileOptions> options = readPlan(given);
  if (!options)
    return options.status();
  Compilation compilation(text, *options);
  CompileSteps steps = compilation.steps();
  bool isCompiled = false;
  steps.compile = [&] {
    isCompiled = true;
    return compilation.compile();
  };
  Result<Artifact> artifact = findOrCompile(context->state->gpu.cache, steps);
  if (!artifact)
    context->state->count(Counter::CompileErrors);
  else if (isCompiled)
    context->state->count(Counter::Compiles);
  if (!artifact)
    return artifact.status();
  return makeProgram(context->state, std::move(*artifact));
}

lacuna_status lacuna_compile(lacuna_context *context, const char *text, size_t length,
                             const lacuna_compile_options *options, lacuna_program **program,
                             lacuna_error **error) {
  if (Status status = checkPointers({{program, "a place for the program"}}); !status)
    return finish(status, error);
  *program = nullptr;
  if (Status status = checkPointers({{context, "a context"}, {text, "a text"}}); !status)
    return finish(status, error);
  Result<lacuna_program *> made = compile(context, {text, length}, options);
  if (made)
    *program = *made;
  return finish(made.status(), error);
}
