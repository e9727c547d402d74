//===- NoCompiler.cpp - a library that loads artifacts only ----------------===//
#include "bindings/C/Handles.h"

using namespace lacuna;

int32_t lacuna_has_compiler(void) { return 0; }

lacuna_status lacuna_compile(lacuna_context *context, const char *, size_t,
                             const lacuna_compile_options *, lacuna_program **program,
                             lacuna_error **error) {
  if (program)
    *program = nullptr;
  if (context)
    context->state->count(c::Counter::CompileErrors);
  return c::finish(Status::error(StatusCode::Unsupported,
                                 "expected a library with a compiler, got one that was built "
                                 "without it (LACUNA_BUILD_COMPILER=OFF) and loads artifacts only"),
                   error);
}
