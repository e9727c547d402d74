//===- compile_and_run.cpp - the compiler as part of an application --------===//
//
//   compile_and_run SPEC.mlir
//
// Compiles examples/sliding_window_sinks.mlir once and runs it for several lengths and windows: on
// the CPU here, on a GPU by the lines in comments. A second start finds the program in the cache.
//
//===----------------------------------------------------------------------===//
#include <lacuna/Compiler.h>
#include <lacuna/Runtime.h>

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace lacuna;

static int fail(const Status &status) {
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  std::stringstream text;
  text << std::ifstream(argv[1]).rdbuf();

  CompileOptions options;
  // Target::Cuda makes CUDA C++ for sm_90a; the spec's types are f16 or bf16 then.
  options.target = Target::Cpu;
  Result<GpuOptions> machine = GpuOptions::fromEnvironment();
  if (!machine)
    return fail(machine.status());
  Compilation compilation(text.str(), options);
  Result<Artifact> artifact = findOrCompile(machine->cache, compilation.steps());
  if (!artifact)
    return fail(artifact.status());

  // On a GPU: Gpu::open(*machine), then gpu->load(artifact->program).
  Cpu cpu = Cpu::open();
  Result<std::shared_ptr<const Executable>> window = cpu.load(std::move(artifact->program));
  if (!window)
    return fail(window.status());

  for (int64_t n : {1, 100, 1000})
    for (int64_t left : {0, 127}) {
      OwnedTensor q(ElementType::F32, {1, 4, n, 32}), kv(ElementType::F32, {1, 2, n, 32});
      for (int64_t token = 0; token < n; ++token)
        kv.view().set({0, 0, token, 0}, 1.0);
      OwnedTensor o(ElementType::F32, {1, 4, n, 32});
      const Argument arguments[] = {q.view(), kv.view(), kv.view(), left};
      Tensor results[] = {o.view()};
      // The stream is a GPU's; the CPU has none.
      if (Status status = (*window)->run(nullptr, arguments, results); !status)
        return fail(status);
      // The values of all tokens are 1 in channel 0, and so is any mean of them.
      std::printf("n=%lld left=%lld: o[0, 0, n-1, 0] = %.3f\n", static_cast<long long>(n),
                  static_cast<long long>(left), o.view().at({0, 0, n - 1, 0}));
    }
  return 0;
}
