//===- ahead_of_time.cpp - an artifact in a program without LLVM -----------===//
//
//   lacuna compile SPEC.mlir --emit=artifact -o window.lacuna
//   ahead_of_time window.lacuna
//
// Prints what the artifact takes and gives. Where there is a GPU it runs once on zeros.
//
//===----------------------------------------------------------------------===//
#include <lacuna/ArtifactFile.h>
#include <lacuna/ResultShapes.h>
#include <lacuna/Runtime.h>

#include <cstdio>

using namespace lacuna;

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

/// Arguments for 1000 tokens: extents that the spec leaves open are 1 for the batch and 1000 else.
static Result<std::vector<Argument>> makeArguments(const Gpu &gpu, const Program &program) {
  std::vector<Argument> arguments;
  for (const ArgumentDeclaration &declared : program.arguments) {
    if (declared.kind == ArgumentDeclaration::Kind::Integer)
      arguments.push_back(int64_t{127});
    else if (declared.kind == ArgumentDeclaration::Kind::Float)
      arguments.push_back(1.0);
    else {
      std::vector<int64_t> shape = declared.shape;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis] < 0)
          shape[axis] = axis == 0 ? 1 : 1000;
      Result<Tensor> tensor = gpu.allocate(declared.type, shape, 0);
      if (!tensor)
        return tensor.status();
      arguments.push_back(*tensor);
    }
  }
  return arguments;
}

static int run(const Gpu &gpu, const Program &program) {
  Result<GpuProgram> loaded = gpu.load(program);
  if (!loaded)
    return fail(loaded.status());
  Result<std::vector<Argument>> arguments = makeArguments(gpu, program);
  if (!arguments)
    return fail(arguments.status());
  std::vector<Tensor> results(program.results.size());
  if (Status status = loaded->run(nullptr, *arguments, results); !status)
    return fail(status);
  if (Status status = gpu.synchronize(); !status)
    return fail(status);
  std::printf("ran on %s\n", gpu.name().c_str());
  for (Tensor &result : results)
    gpu.free(result);
  for (Argument &argument : *arguments)
    if (auto *tensor = std::get_if<Tensor>(&argument))
      gpu.free(*tensor);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  Result<Artifact> artifact = loadArtifact(argv[1]);
  if (!artifact)
    return fail(artifact.status());
  const Program &program = artifact->program;
  std::printf("%s for %s\n", program.name.c_str(), program.architecture.c_str());
  for (const ArgumentDeclaration &argument : program.arguments)
    std::printf("  takes %s\n", argument.name.c_str());
  Result<ResultShapes> shapes = ResultShapes::of(program);
  if (!shapes)
    return fail(shapes.status());
  for (const ResultDeclaration &result : shapes->results)
    std::printf("  gives %s, %s with %zu axes\n", result.name.c_str(), toString(result.type),
                result.shape.size());

  Result<GpuOptions> options = GpuOptions::fromEnvironment();
  if (!options)
    return fail(options.status());
  Result<Gpu> gpu = Gpu::open(*options);
  if (gpu)
    return run(*gpu, program);
  std::printf("not run: %s\n", gpu.status().message().c_str());
  return gpu.status().code() == StatusCode::Missing ? 0 : 1;
}
