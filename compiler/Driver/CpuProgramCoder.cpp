//===- CpuProgramCoder.cpp - machine code for later processes --------------===//
#include "compiler/Driver/CpuProgram.h"

#include "compiler/Cpu/Jit.h"
#include "compiler/Driver/ProgramKeys.h"
#include "lib/Artifact/ByteCoder.h"
#include "lib/Artifact/ProgramCoder.h"

#include <algorithm>

namespace lacuna {

/// What was written, and by and for whom.
struct Heading {
  std::string kind = "machine code for a CPU", compiler = compilerBuild(),
              machine = HostMachine::identity();
  friend bool operator==(const Heading &, const Heading &) = default;
};

template <typename Coder>
static void code(Coder &coder, typename Coder::template Value<Heading> &value) {
  auto &[kind, compiler, machine] = value;
  coder.text(kind);
  coder.text(compiler);
  coder.text(machine);
}

template <typename Coder, typename Self> void CpuProgram::code(Coder &coder, Self &program) {
  auto number = [&](auto &value) { coder.integer(value); };
  coder.list(program.scalars, [&](auto &scalar) {
    coder.enumeration(scalar, Scalar::F64, "how a number lies in memory");
  });
  coder.list(program.kernels, [&](auto &kernel) {
    coder.text(kernel.name);
    coder.list(kernel.requirements, [&](auto &requirement) {
      coder.text(requirement.message);
      coder.integer(requirement.values);
    });
    coder.integer(kernel.gridRank);
    coder.list(kernel.outputs, [&](auto &output) {
      coder.enumeration(output.type, ElementType::I64, "an element type");
      coder.integer(output.rank);
    });
  });
  coder.list(program.steps, [&](auto &step) {
    coder.integer(step.kernel);
    coder.list(step.inputs, number);
    coder.list(step.into, number);
    coder.integer(step.firstResult);
  });
  coder.list(program.results, number);
}

std::string CpuProgram::write() const {
  ByteWriter writer;
  lacuna::code(writer, Heading());
  // Arguments are written as those of a program without kernels.
  Program described;
  described.arguments = declarations;
  writer.text(writeProgram(described));
  code(writer, *this);
  writer.text(jit->getObject());
  return std::move(writer.bytes);
}

bool CpuProgram::isWellFormed() const {
  if (scalars.size() != declarations.size())
    return false;
  size_t made = declarations.size();
  for (const Step &step : steps) {
    auto isMade = [&](unsigned buffer) { return buffer < made; };
    if (step.kernel >= kernels.size() || step.firstResult != made ||
        !std::ranges::all_of(step.inputs, isMade) || !std::ranges::all_of(step.into, isMade))
      return false;
    size_t outputs = kernels[step.kernel].outputs.size();
    if (!step.into.empty() && step.into.size() != outputs)
      return false;
    made += outputs;
  }
  return std::ranges::all_of(results, [&](unsigned buffer) { return buffer < made; });
}

Result<std::unique_ptr<CpuProgram>> CpuProgram::read(std::string_view bytes) {
  ByteReader reader(bytes);
  Heading heading;
  lacuna::code(reader, heading);
  if (heading != Heading())
    return Status::error(StatusCode::Corrupt,
                         "expected machine code of this compiler for this CPU, got other bytes");
  auto program = std::make_unique<CpuProgram>();
  std::string arguments, object;
  reader.text(arguments);
  code(reader, *program);
  reader.text(object);
  if (Status status = reader.finish(); !status)
    return status;
  Result<Program> described = readProgram(arguments);
  if (!described)
    return described.status();
  program->declarations = std::move(described->arguments);
  if (!program->isWellFormed())
    return Status::error(StatusCode::Corrupt, "expected launches of the kernels that are there");
  if (Status status = program->link(std::move(object)); !status)
    return status;
  return program;
}

} // namespace lacuna
