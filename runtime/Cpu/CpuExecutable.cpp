//===- CpuExecutable.cpp - programs on the CPU of this process -------------===//
#include "lacuna/Runtime.h"

#include "lib/Support/Settings.h"
#include "runtime/Cpu/ThreadPool.h"

#include <cstdlib>
#include <fmt/format.h>

namespace lacuna {

struct Cpu::State {
  std::shared_ptr<runtime::ThreadPool> pool;
};

/// Alignment of what a run allocates: a line of the cache, and the widest vector.
static constexpr size_t alignment = 64;

namespace {
class CpuExecutable final : public Executable {
public:
  CpuExecutable(std::shared_ptr<runtime::ThreadPool> pool, Program program, ResultShapes shapes)
      : pool(std::move(pool)), source(std::move(program)), shapes(std::move(shapes)) {}

  Status run(CUstream_st *stream, std::span<const Argument> arguments,
             std::span<Tensor> results) const override;
  const Program &program() const override { return source; }

private:
  Status allocate(std::span<const Argument> arguments, std::span<Tensor> results,
                  std::vector<size_t> &allocated) const;

  std::shared_ptr<runtime::ThreadPool> pool;
  Program source;
  ResultShapes shapes;
};
} // namespace

static Status refuse(std::string text) {
  return Status::error(StatusCode::InvalidArgument, std::move(text));
}

/// Whether the arguments have the kinds and ranks that shapes of results are computed from; the
/// code checks everything else, and says it better.
static bool haveRanks(const Program &program, std::span<const Argument> arguments) {
  if (arguments.size() != program.arguments.size())
    return false;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto *tensor = std::get_if<Tensor>(&arguments[i]);
        (program.arguments[i].kind == ArgumentDeclaration::Kind::Tensor) != (tensor != nullptr) ||
        (tensor && tensor->shape.size() != program.arguments[i].shape.size()))
      return false;
  return true;
}

/// Gives memory to results that have none, and lists them.
Status CpuExecutable::allocate(std::span<const Argument> arguments, std::span<Tensor> results,
                               std::vector<size_t> &allocated) const {
  Result<std::vector<Tensor>> inferred = shapes.infer(arguments);
  if (!inferred)
    return inferred.status();
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].data)
      continue;
    results[i] = std::move((*inferred)[i]);
    auto bytes = static_cast<size_t>(results[i].elements()) * byteWidth(results[i].type);
    if (bytes == 0)
      continue;
    results[i].data =
        std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (!results[i].data)
      return Status::error(StatusCode::Device, fmt::format("result '{}': cannot allocate {} bytes",
                                                           shapes.results[i].name, bytes));
    allocated.push_back(i);
  }
  return Status::ok();
}

Status CpuExecutable::run(CUstream_st *stream, std::span<const Argument> arguments,
                          std::span<Tensor> results) const {
  if (stream)
    return refuse("expected no stream for a program on the CPU, got one");
  if (results.size() != source.results.size())
    return refuse(fmt::format("expected {} results of {}, got {}", source.results.size(),
                              source.name, results.size()));
  std::vector<size_t> allocated;
  Status status =
      haveRanks(source, arguments) ? allocate(arguments, results, allocated) : Status::ok();
  if (status)
    status = source.native->run(arguments, results, *pool);
  if (!status)
    for (size_t i : allocated)
      Cpu::free(results[i]);
  return status;
}

Result<CpuOptions> CpuOptions::fromEnvironment() {
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return settings.status();
  return CpuOptions{settings->threads};
}

Cpu Cpu::open(const CpuOptions &options) {
  return Cpu(
      std::make_shared<State>(State{std::make_shared<runtime::ThreadPool>(options.threads)}));
}

int64_t Cpu::threads() const { return state->pool->getThreads(); }

Result<std::shared_ptr<const Executable>> Cpu::load(Program program) const {
  if (!program.native)
    return refuse(fmt::format("expected a program for the CPU, got one for {}",
                              program.architecture.empty() ? "nothing" : program.architecture));
  Result<ResultShapes> shapes = ResultShapes::of(program);
  if (!shapes)
    return shapes.status();
  return std::shared_ptr<const Executable>(
      std::make_shared<CpuExecutable>(state->pool, std::move(program), std::move(*shapes)));
}

void Cpu::free(Tensor &tensor) noexcept {
  std::free(tensor.data);
  tensor.data = nullptr;
}

} // namespace lacuna
